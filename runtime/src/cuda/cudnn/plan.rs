//! Plans: the engine that computes a convolution, chosen from the library's proposals or read from disk.

use cudarc::cudnn::sys::{
    cudnnBackendAttributeName_t as Attribute, cudnnBackendDescriptorType_t as DescriptorKind,
    cudnnBackendHeurMode_t as HeuristicMode, cudnnBackendNumericalNote_t as KnownNote,
};
use nomina_core::DType;

use super::api::{CudnnFunctions, Status};
use super::descriptor::{CudnnHandle, Descriptor, DescriptorDraft, DeviceAddress, NumericalNote};
use super::graph::{BIAS, ConvGraph, INPUT, SLID, WEIGHT};
use super::query::{ConvQuery, types};
use super::saved::{self, SavedPlan};

/// The most bytes of a plan's workspace.
const WORKSPACE: usize = 256 << 20;

/// The most notes of an engine that are read; version 9.2 knows ten.
const NOTES: usize = 16;

/// The addresses of a convolution's tensors.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConvAddresses {
    pub(super) input: *const u8,
    pub(super) weight: *const u8,
    pub(super) slid: *const u8,
    /// Used by plans that add the bias.
    pub(super) bias: Option<*const u8>,
}

/// The plan for a convolution.
#[derive(Debug)]
pub(super) struct ConvPlan {
    api: &'static CudnnFunctions,
    plan: Descriptor,
    pub(super) workspace: usize,
    /// Whether it adds the bias.
    pub(super) adds_bias: bool,
    /// The descriptors to which the plan refers, unless it was read from disk.
    _made_of: Option<(Descriptor, ConvGraph)>,
}

// SAFETY: descriptors are plain memory of the library, used under the lock of the plans.
unsafe impl Send for ConvPlan {}

/// A proposed configuration of an engine.
struct Proposal {
    config: Descriptor,
    notes: Vec<NumericalNote>,
}

impl Proposal {
    fn new(config: Descriptor) -> Result<Self, Status> {
        let name = Attribute::CUDNN_ATTR_ENGINECFG_ENGINE;
        let kind = DescriptorKind::CUDNN_BACKEND_ENGINE_DESCRIPTOR;
        let engines = config.descriptors(name, kind, 1)?;
        let notes = match engines.first() {
            Some(engine) => {
                engine.values_up_to(Attribute::CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, NOTES)?
            }
            None => Vec::new(),
        };
        Ok(Self { config, notes })
    }

    fn has(&self, note: KnownNote) -> bool {
        self.notes.contains(&NumericalNote(note as u32))
    }

    /// Returns whether it multiplies operands of `f32` as they are.
    fn is_exact(&self) -> bool {
        !self.has(KnownNote::CUDNN_NUMERICAL_NOTE_TENSOR_CORE)
            && !self.has(KnownNote::CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS)
    }

    /// Returns whether it computes the same bits each time.
    fn is_repeatable(&self) -> bool {
        !self.has(KnownNote::CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC)
    }
}

/// Returns `None` if a graph or an engine cannot be used.
fn if_usable<T>(result: Result<T, Status>) -> Result<Option<T>, Status> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(status) if status.is_of_engine() => Ok(None),
        Err(status) => Err(status),
    }
}

impl ConvPlan {
    /// Reads a plan from disk, or chooses one; `None` if the library cannot compute the convolution. `place` names the
    /// library and the device. A bias is added by the plan if an engine does so, and else left to the caller.
    pub(super) fn new(
        api: &'static CudnnFunctions,
        handle: CudnnHandle,
        place: &str,
        asked: &ConvQuery,
    ) -> Result<Option<Self>, Status> {
        let key = saved::key(place, asked);
        if let Some(plan) = saved::load(&key).and_then(|saved| Self::saved(api, handle, &saved)) {
            return Ok(Some(plan));
        }
        let mut plan = None;
        if asked.bias {
            plan = Self::choose(api, handle, asked, true)?;
        }
        if plan.is_none() {
            plan = Self::choose(api, handle, asked, false)?;
        }
        if let Some(plan) = &plan {
            // An engine without such a text is chosen again by the next process.
            let text = plan
                .plan
                .values(Attribute::CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
            if let Ok(text) = text {
                let adds_bias = plan.adds_bias;
                saved::store(&key, &SavedPlan { adds_bias, text });
            }
        }
        Ok(plan)
    }

    /// Returns the plan of a file, if this library and device accept it.
    fn saved(api: &'static CudnnFunctions, handle: CudnnHandle, saved: &SavedPlan) -> Option<Self> {
        let name = Attribute::CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION;
        let plan = draft(api, handle)
            .and_then(|draft| draft.set(name, &saved.text)?.finalize())
            .ok()?;
        Self::usable(api, plan, saved.adds_bias).ok()?
    }

    /// Returns a plan, unless it needs too much memory.
    fn usable(
        api: &'static CudnnFunctions,
        plan: Descriptor,
        adds_bias: bool,
    ) -> Result<Option<Self>, Status> {
        let bytes: i64 = plan.value(Attribute::CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE)?;
        let workspace = usize::try_from(bytes)
            .ok()
            .filter(|&bytes| bytes <= WORKSPACE);
        Ok(workspace.map(|workspace| Self {
            api,
            plan,
            workspace,
            adds_bias,
            _made_of: None,
        }))
    }

    /// Tries the library's proposals: first those that compute the same bits each time.
    fn choose(
        api: &'static CudnnFunctions,
        handle: CudnnHandle,
        asked: &ConvQuery,
        bias: bool,
    ) -> Result<Option<Self>, Status> {
        let Some(types) = types(asked.dtype) else {
            return Ok(None);
        };
        let graph = if_usable(ConvGraph::new(api, handle, asked, types, bias))?;
        let Some(graph) = graph else {
            return Ok(None);
        };
        let exact = asked.dtype == DType::F32 && !asked.tf32;
        for mode in [
            HeuristicMode::CUDNN_HEUR_MODE_A,
            HeuristicMode::CUDNN_HEUR_MODE_FALLBACK,
        ] {
            let configs = if_usable(graph.proposals(api, mode))?.unwrap_or_default();
            let mut proposals = Vec::with_capacity(configs.len());
            for config in configs {
                proposals.extend(if_usable(Proposal::new(config))?);
            }
            proposals.retain(|proposal| !exact || proposal.is_exact());
            // Stable: the library's order is kept otherwise.
            proposals.sort_by_key(|proposal| !proposal.is_repeatable());
            for Proposal { config, .. } in proposals {
                let name = Attribute::CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG;
                let plan = draft(api, handle)
                    .and_then(|draft| draft.refer(name, &[&config])?.finalize())
                    .and_then(|plan| Self::usable(api, plan, bias));
                if let Some(mut plan) = if_usable(plan)?.flatten() {
                    plan._made_of = Some((config, graph));
                    return Ok(Some(plan));
                }
            }
        }
        Ok(None)
    }

    /// Starts the convolution.
    ///
    /// # Safety
    /// The tensors are at their addresses, laid out as in the query, with a bias if the plan adds one. The workspace has
    /// the length of the plan.
    pub(super) unsafe fn run(
        &self,
        handle: CudnnHandle,
        at: &ConvAddresses,
        workspace: *mut u8,
    ) -> Result<(), Status> {
        let ids = [INPUT, WEIGHT, SLID, BIAS];
        let bias = at.bias.unwrap_or(std::ptr::null());
        let all = [at.input, at.weight, at.slid, bias];
        let addresses = all.map(|at| DeviceAddress(at.cast_mut()));
        let count = if self.adds_bias { 4 } else { 3 };
        let kind = DescriptorKind::CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR;
        let pack = DescriptorDraft::new(self.api, kind)?
            .set(Attribute::CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, &ids[..count])?
            .set(
                Attribute::CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                &addresses[..count],
            )?
            .set(
                Attribute::CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
                &[DeviceAddress(workspace)],
            )?
            .finalize()?;
        // SAFETY: the caller's promise.
        unsafe { (self.api.execute)(handle.0, self.plan.object(), pack.object()) }.result()
    }
}

/// Returns a plan without an engine.
fn draft(api: &'static CudnnFunctions, handle: CudnnHandle) -> Result<DescriptorDraft, Status> {
    DescriptorDraft::new(api, DescriptorKind::CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)?
        .set(Attribute::CUDNN_ATTR_EXECUTION_PLAN_HANDLE, &[handle])
}
