//! Lookup of rows in a table whose rows are split: each rank requests rows from their owners, and gradients return to
//! the owners in the backward pass.

use std::sync::Arc;

use nomina::{DType, DynTensor, Error, ErrorKind, Names, Result};
use nomina_core::mesh::Combine;
use nomina_core::mesh::value::Place;
use nomina_core::op::Op;
use nomina_runtime::Raw;
use nomina_runtime::grad::custom;

use super::{SplitDim, unnamed, with_names_of};
use crate::identity;
use crate::ranks::Job;

/// The rows that each rank requested from this one, and the number that this rank requested from each.
struct RowRequests {
    /// The requested rows by rank, as indices into this rank's part.
    received: Vec<DynTensor>,
    /// The number of requested rows by rank.
    sent: Vec<usize>,
}

impl SplitDim {
    /// Returns the rows at `ids`, in `embedding`'s layout: the dims of the ids, then the other dims of the table. If
    /// all ranks have the same ids (`place` tells), each contributes the rows that it owns to a sum; otherwise each
    /// rank requests its own rows.
    pub(crate) fn rows(
        &self,
        table: &DynTensor,
        ids: &DynTensor,
        place: &Place,
    ) -> Result<DynTensor> {
        let size = self.size() as i64;
        let numbers = ids.detach().to_dtype(DType::I64)?;
        // Embeddings do not accept negative indices.
        let least = if self.op == Op::Embedding.name() {
            0
        } else {
            -size
        };
        let beyond = numbers.lt(least)?.logical_or(&numbers.ge(size)?)?;
        if beyond.any(..)?.to_vec::<bool>()?.first() == Some(&true) {
            let what = format!("an index is not in 0..{}", self.size());
            let error = Error::new(ErrorKind::Index, self.op, what);
            return Err(error
                .operand(&self.metadata.names, &self.metadata.sizes)
                .operand(ids.names(), ids.shape())
                .hint(if least == 0 {
                    "rows are counted over all ranks, from 0"
                } else {
                    "rows are counted over all ranks, from 0, or from -1 at the end"
                }));
        }
        let from_end = numbers.lt(0_i64)?;
        let numbers = from_end.where_cond(&numbers.add(size)?, &numbers)?;
        match place {
            Place::Whole | Place::Synced => {
                self.sum_owned_rows(table, &numbers, *place == Place::Synced)
            }
            _ => self.request_rows(table, &numbers),
        }
    }

    /// Sums the ranks' contributions: the rows that this rank owns, zeros for all others.
    fn sum_owned_rows(
        &self,
        table: &DynTensor,
        ids: &DynTensor,
        synced: bool,
    ) -> Result<DynTensor> {
        let (within, own) = self.localized(ids)?;
        // A rank without rows still takes part in the sum, and in that of the gradients.
        let spare = match self.own().1 {
            0 => Some(DynTensor::cat(
                &[table, &identity::zero_row(table, self.dim)?],
                self.dim,
            )?),
            _ => None,
        };
        let rows = spare
            .as_ref()
            .unwrap_or(table)
            .embedding(self.dim, &within)?;
        let mut shape = own.shape().to_vec();
        shape.resize(rows.rank(), 1);
        let others = unnamed(own.logical_not()?.raw().reshape(&shape)?)?;
        let rows = rows.masked_fill(&others, 0_i64)?;
        let metadata = self
            .metadata
            .with_place(self.axis, Place::Pending(Combine::Add));
        let sum = metadata.all_reduce(self.op, rows.raw(), self.axis, synced, self.at)?;
        with_names_of(sum, &rows)
    }

    /// Requests each distinct row once, from its owner.
    fn request_rows(&self, table: &DynTensor, ids: &DynTensor) -> Result<DynTensor> {
        let (ranks, size) = (self.ranks(), self.size());
        let unique = unnamed(ids.raw().reshape(&[ids.numel()])?)?.unique_all()?;
        let rows = unique.values.to_vec::<i64>()?;
        // The rows are sorted, and so are the owners' ranges.
        let mut sent = Vec::with_capacity(ranks);
        let mut pieces = Vec::with_capacity(ranks);
        let mut next = 0;
        for rank in 0..ranks {
            let (start, len) = crate::partition::part(size, ranks, rank);
            let until = rows.partition_point(|&row| row < (start + len) as i64);
            let its: Vec<i64> = rows[next..until]
                .iter()
                .map(|row| row - start as i64)
                .collect();
            sent.push(its.len());
            pieces.push(Raw::from_vec(its, &[until - next])?);
            next = until;
        }
        let counts = sent
            .iter()
            .map(|&count| Raw::from_vec(vec![count as i64], &[1]));
        let counts = counts.collect::<Result<Vec<_>>>()?;
        let answers = self.all_to_all(counts, vec![vec![1]; ranks])?;
        let lens = answers.iter().map(|one| match one.as_slice::<i64>() {
            Some(&[len]) => usize::try_from(len).unwrap_or_default(),
            _ => 0,
        });
        let shapes = lens.map(|len| vec![len]).collect();
        let received = self.all_to_all(pieces, shapes)?;
        let received = received
            .into_iter()
            .map(|rows| unnamed(rows)?.to_device(table.device()));
        let received = received.collect::<Result<_>>()?;
        let requests = Arc::new(RowRequests { received, sent });
        let found = with_names_of(self.fetch_rows(table.raw(), &requests)?, table)?;
        let inverse = unique.inverse.into_parts().0.reshape(ids.shape())?;
        found.embedding(self.dim, &with_names_of(inverse, ids)?)
    }

    /// Sends a piece to each rank, and returns the received pieces, of these shapes.
    fn all_to_all(&self, pieces: Vec<Raw>, shapes: Vec<Vec<usize>>) -> Result<Vec<Raw>> {
        let metadata = &self.metadata;
        let dtype = pieces.first().map(Raw::dtype);
        let description = metadata.describe(self.op, dtype, self.axis, self.at);
        let job = Job::AllToAll { pieces, shapes };
        metadata.shared.start(self.axis, description, job)?.wait()
    }

    fn shapes(&self, like: &[usize], lens: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
        let shape = |len| {
            let mut shape = like.to_vec();
            shape[self.dim] = len;
            shape
        };
        lens.map(shape).collect()
    }

    /// Returns the rows that this rank requested, ordered by owner.
    fn fetch_rows(&self, raw: &Raw, requests: &Arc<RowRequests>) -> Result<Raw> {
        let table = unnamed(raw.clone().detach())?;
        let pieces = requests.received.iter().map(|rows| {
            let found = table.index_select(self.dim, rows)?;
            Ok(found.into_parts().0)
        });
        let pieces = pieces.collect::<Result<Vec<_>>>()?;
        let shapes = self.shapes(raw.shape(), requests.sent.iter().copied());
        let answers = self.all_to_all(pieces, shapes)?;
        let answers: Vec<DynTensor> = answers.into_iter().map(unnamed).collect::<Result<_>>()?;
        let answers: Vec<&DynTensor> = answers.iter().collect();
        let found = DynTensor::cat(&answers, self.dim)?.into_parts().0;
        let (split_dim, requests, shape) = (self.clone(), requests.clone(), raw.shape().to_vec());
        custom(self.op, &[raw], found, move |grad| {
            Ok(vec![Some(
                split_dim.fetch_rows_backward(grad, &requests, &shape)?,
            )])
        })
    }

    /// Sums the gradients of this rank's rows from all ranks that requested them.
    fn fetch_rows_backward(
        &self,
        raw: &Raw,
        requests: &Arc<RowRequests>,
        shape: &[usize],
    ) -> Result<Raw> {
        let rows = raw.clone().detach();
        let mut next = 0;
        let pieces = requests.sent.iter().map(|&len| {
            let piece = rows.narrow(self.dim, next, len);
            next += len;
            piece
        });
        let pieces = pieces.collect::<Result<Vec<_>>>()?;
        let shapes = self.shapes(shape, requests.received.iter().map(DynTensor::numel));
        let mut sum = DynTensor::from_parts(
            Raw::zeros(self.op, shape, raw.dtype(), raw.device())?,
            Names::unnamed(shape.len()),
        )?;
        for (rows, answers) in requests
            .received
            .iter()
            .zip(self.all_to_all(pieces, shapes)?)
        {
            sum = sum.index_add(self.dim, rows, &unnamed(answers)?)?;
        }
        let (split_dim, requests) = (self.clone(), requests.clone());
        custom(self.op, &[raw], sum.into_parts().0, move |grad| {
            Ok(vec![Some(split_dim.fetch_rows(grad, &requests)?)])
        })
    }
}
