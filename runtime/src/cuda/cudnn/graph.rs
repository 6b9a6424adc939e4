//! The operation graph of a convolution.

use cudarc::cudnn::sys::{
    cudnnBackendAttributeName_t as Attribute, cudnnBackendDescriptorType_t as DescriptorKind,
    cudnnBackendHeurMode_t as HeuristicMode, cudnnConvolutionMode_t as ConvolutionMode,
    cudnnDataType_t as ElementType, cudnnPointwiseMode_t as PointwiseMode,
};

use super::api::{CudnnFunctions, Status};
use super::descriptor::{CudnnHandle, Descriptor, DescriptorDraft};
use super::query::{ConvQuery, ConvSizes, Direction, padding_after, strides, types};

/// The identifiers of a graph's tensors. Plans on disk contain them.
pub(super) const INPUT: i64 = 1;
pub(super) const WEIGHT: i64 = 2;
pub(super) const SLID: i64 = 3;
pub(super) const BIAS: i64 = 4;
/// The convolution before the bias is added, which is not stored.
const SUM: i64 = 5;

/// The alignment of operands and results in bytes.
pub(super) const ALIGNMENT: usize = 16;

/// The most proposals that are tried.
const PROPOSALS: usize = 64;

/// The operation graph of a convolution, and the descriptors to which it refers.
#[derive(Debug)]
pub(super) struct ConvGraph {
    graph: Descriptor,
    _parts: Vec<Descriptor>,
}

/// The descriptor of a convolution's operation, and its attributes.
struct OperationNames {
    kind: DescriptorKind,
    alpha: Attribute,
    beta: Attribute,
    convolution: Attribute,
    input: Attribute,
    weight: Attribute,
    slid: Attribute,
}

impl OperationNames {
    fn new(way: Direction) -> Self {
        match way {
            Direction::Forward => Self {
                kind: DescriptorKind::CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                alpha: Attribute::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                beta: Attribute::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
                convolution: Attribute::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                input: Attribute::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                weight: Attribute::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                slid: Attribute::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
            },
            Direction::Data => Self {
                kind: DescriptorKind::CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                alpha: Attribute::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                beta: Attribute::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
                convolution: Attribute::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                input: Attribute::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                weight: Attribute::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                slid: Attribute::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
            },
            Direction::Weight => Self {
                kind:
                    DescriptorKind::CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                alpha: Attribute::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                beta: Attribute::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
                convolution: Attribute::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                input: Attribute::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                weight: Attribute::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                slid: Attribute::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
            },
        }
    }
}

/// The tensors of a graph.
struct TensorMaker<'a> {
    api: &'static CudnnFunctions,
    asked: &'a ConvQuery,
}

impl TensorMaker<'_> {
    fn draft(
        &self,
        id: i64,
        element: ElementType,
        sizes: ConvSizes,
        strides: [isize; 5],
    ) -> Result<DescriptorDraft, Status> {
        let sizes = self.asked.library_dims(sizes.map(|size| size as i64));
        let strides = self.asked.library_dims(strides.map(|stride| stride as i64));
        DescriptorDraft::new(self.api, DescriptorKind::CUDNN_BACKEND_TENSOR_DESCRIPTOR)?
            .set(Attribute::CUDNN_ATTR_TENSOR_DATA_TYPE, &[element])?
            .set(Attribute::CUDNN_ATTR_TENSOR_DIMENSIONS, &sizes)?
            .set(Attribute::CUDNN_ATTR_TENSOR_STRIDES, &strides)?
            .set(Attribute::CUDNN_ATTR_TENSOR_UNIQUE_ID, &[id])?
            .set(
                Attribute::CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT,
                &[ALIGNMENT as i64],
            )
    }

    /// Returns a contiguous tensor.
    fn contiguous(
        &self,
        id: i64,
        element: ElementType,
        sizes: ConvSizes,
    ) -> Result<DescriptorDraft, Status> {
        self.draft(id, element, sizes, strides(sizes, self.asked.last))
    }
}

impl ConvGraph {
    /// Describes a convolution to the library; `bias` says whether it adds the bias.
    pub(super) fn new(
        api: &'static CudnnFunctions,
        handle: CudnnHandle,
        asked: &ConvQuery,
        (element, sum): (ElementType, ElementType),
        bias: bool,
    ) -> Result<Self, Status> {
        let tensors = TensorMaker { api, asked };
        let input = tensors
            .contiguous(INPUT, element, asked.input())?
            .finalize()?;
        let weight = tensors
            .contiguous(WEIGHT, element, asked.kernel())?
            .finalize()?;
        let slid = tensors
            .contiguous(SLID, element, asked.slid())?
            .finalize()?;
        let windows = windows(api, asked, sum)?;
        let mut parts = vec![input, weight, slid, windows];
        let mut operations = Vec::new();
        if bias {
            let not_stored = tensors
                .contiguous(SUM, sum, asked.slid())?
                .set(Attribute::CUDNN_ATTR_TENSOR_IS_VIRTUAL, &[true])?
                .finalize()?;
            let outs = asked.groups * asked.outs;
            let strides = [outs as isize, 1, 1, 1, 1];
            let added = tensors
                .draft(BIAS, element, [1, outs, 1, 1, 1], strides)?
                .finalize()?;
            let add =
                DescriptorDraft::new(api, DescriptorKind::CUDNN_BACKEND_POINTWISE_DESCRIPTOR)?
                    .set(
                        Attribute::CUDNN_ATTR_POINTWISE_MODE,
                        &[PointwiseMode::CUDNN_POINTWISE_ADD],
                    )?
                    .set(Attribute::CUDNN_ATTR_POINTWISE_MATH_PREC, &[sum])?
                    .finalize()?;
            let kind = DescriptorKind::CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR;
            let addition = DescriptorDraft::new(api, kind)?
                .refer(
                    Attribute::CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
                    &[&add],
                )?
                .refer(
                    Attribute::CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                    &[&not_stored],
                )?
                .refer(Attribute::CUDNN_ATTR_OPERATION_POINTWISE_BDESC, &[&added])?
                .refer(
                    Attribute::CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
                    &[&parts[2]],
                )?
                .finalize()?;
            operations.push(convolution(
                api,
                asked,
                [&parts[0], &parts[1], &not_stored],
                &parts[3],
            )?);
            operations.push(addition);
            parts.extend([not_stored, added, add]);
        } else {
            operations.push(convolution(
                api,
                asked,
                [&parts[0], &parts[1], &parts[2]],
                &parts[3],
            )?);
        }
        let listed: Vec<&Descriptor> = operations.iter().collect();
        let kind = DescriptorKind::CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR;
        let graph = DescriptorDraft::new(api, kind)?
            .set(Attribute::CUDNN_ATTR_OPERATIONGRAPH_HANDLE, &[handle])?
            .refer(Attribute::CUDNN_ATTR_OPERATIONGRAPH_OPS, &listed)?
            .finalize()?;
        parts.extend(operations);
        Ok(Self {
            graph,
            _parts: parts,
        })
    }

    /// Returns the configurations of engines that the library proposes, the best ones first.
    pub(super) fn proposals(
        &self,
        api: &'static CudnnFunctions,
        mode: HeuristicMode,
    ) -> Result<Vec<Descriptor>, Status> {
        let name = Attribute::CUDNN_ATTR_ENGINEHEUR_RESULTS;
        let kind = DescriptorKind::CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR;
        let heuristics = DescriptorDraft::new(api, kind)?
            .refer(
                Attribute::CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
                &[&self.graph],
            )?
            .set(Attribute::CUDNN_ATTR_ENGINEHEUR_MODE, &[mode])?
            .finalize()?;
        let count = heuristics.descriptor_count(name)?.min(PROPOSALS);
        if count == 0 {
            return Ok(Vec::new());
        }
        let kind = DescriptorKind::CUDNN_BACKEND_ENGINECFG_DESCRIPTOR;
        heuristics.descriptors(name, kind, count)
    }
}

/// Describes the windows of a convolution.
fn windows(
    api: &'static CudnnFunctions,
    asked: &ConvQuery,
    sum: ElementType,
) -> Result<Descriptor, Status> {
    let before = asked.library_windows(|window| window.before);
    let after = asked.library_windows(|window| padding_after(window).unwrap_or(window.before));
    let strides = asked.library_windows(|window| window.stride);
    let dilations = asked.library_windows(|window| window.dilation);
    let mode = ConvolutionMode::CUDNN_CROSS_CORRELATION;
    DescriptorDraft::new(api, DescriptorKind::CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR)?
        .set(Attribute::CUDNN_ATTR_CONVOLUTION_COMP_TYPE, &[sum])?
        .set(Attribute::CUDNN_ATTR_CONVOLUTION_CONV_MODE, &[mode])?
        .set(
            Attribute::CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS,
            &[before.len() as i64],
        )?
        .set(Attribute::CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, &before)?
        .set(Attribute::CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, &after)?
        .set(Attribute::CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, &strides)?
        .set(Attribute::CUDNN_ATTR_CONVOLUTION_DILATIONS, &dilations)?
        .finalize()
}

/// Describes the operation: a convolution of an input, a weight and the tensor that windows slide to.
fn convolution(
    api: &'static CudnnFunctions,
    asked: &ConvQuery,
    [input, weight, slid]: [&Descriptor; 3],
    windows: &Descriptor,
) -> Result<Descriptor, Status> {
    let names = OperationNames::new(asked.way);
    let draft = DescriptorDraft::new(api, names.kind)?;
    let draft = if types(asked.dtype).is_some_and(|(_, sum)| sum == ElementType::CUDNN_DATA_DOUBLE)
    {
        draft
            .set(names.alpha, &[1.0_f64])?
            .set(names.beta, &[0.0_f64])?
    } else {
        draft
            .set(names.alpha, &[1.0_f32])?
            .set(names.beta, &[0.0_f32])?
    };
    draft
        .refer(names.convolution, &[windows])?
        .refer(names.input, &[input])?
        .refer(names.weight, &[weight])?
        .refer(names.slid, &[slid])?
        .finalize()
}
