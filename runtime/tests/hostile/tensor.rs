//! Methods of tensors.

pub mod raw {
    use half::bf16;
    use nomina_runtime::Raw;
    use nomina_runtime::grad::{BackwardOptions, HookHandle, backward};

    use super::super::make;

    /// Returns a tensor after a gradient was accumulated at it, if it takes one.
    fn came(x: &Raw) -> Option<&Raw> {
        let seed = x.clone().detach();
        backward(x, seed, BackwardOptions::default()).ok()?;
        Some(x)
    }

    calls! { Raw:
        zeros(_, sizes(), _, _);
        from_vec |d| {
            let data = vec![7_i32; make::size(d.bytes) % 100];
            Raw::from_vec(data, d.sizes())
        };
        shape(_);
        strides(_);
        offset(_);
        layout(_);
        rank(_);
        numel(_);
        dtype(_);
        device(_);
        is_contiguous(_);
        is_unique(_);
        shares_storage(_, _);
        as_ptr(_);
        nbytes(_);
        permute(_, _);
        align(_, places());
        transpose(_, _, _);
        narrow(_, _, size(), size());
        slice(_, _, size(), size(), step());
        select(_, _, size());
        unsqueeze(_, _);
        squeeze(_, _);
        flip(_, _);
        windows(_, _, size(), size());
        diagonal(_, _, _, step());
        expand(_, sizes());
        broadcast_to(_, _, sizes());
        view(_, sizes());
        reshape(_, sizes());
        as_mut(_);
        as_slice |d| { d.x().as_slice::<f32>().map(<[f32]>::to_vec) };
        as_mut_slice |d| { d.dest().as_mut_slice::<i64>().map(|all| all.fill(3)) };
        to_vec |d| { d.x().to_vec::<f64>() };
        into_vec |d| { d.x().clone().into_vec::<u8>() };
        get |d| { d.x().get::<i16>(d.numbers(d.base.len())) };
        item(_);
        scalars |d| {
            let x = d.x();
            (x.numel() < 1 << 20).then(|| x.scalars().count())
        };
        try_scalars |d| { d.x().try_scalars().map(|mut all| all.next().is_some()) };
        iter |d| { d.x().iter::<bf16>().map(|mut all| all.next().is_some()) };
        in_format(_, _, _);
        in_format_like(_, _, _, _);
        detach(_);
        aliased(_);
        strided_view |d| {
            let (shape, rank) = (d.sizes().into(), d.base.len());
            let strides = d.numbers(rank).iter().map(|&stride| stride as isize);
            let strides = strides.collect();
            let offset = make::size(d.bytes);
            d.x().strided_view(shape, strides, offset)
        };
        requires_grad(_);
        requires_grad_(_);
        is_leaf(_);
        leaf_id |d| { d.x().leaf_id().is_some() };
        // Methods of the leaf's identity.
        address |d| { d.x().leaf_id().is_some_and(|id| id.address() > 0) };
        is_used |d| { d.x().leaf_id().is_some_and(|id| id.is_used()) };
        created_at |d| { d.x().created_at().is_some() };
        set_made |d| {
            let mut x = d.x().clone();
            x.set_made(std::panic::Location::caller());
            x
        };
        grad |d| { came(d.x()).and_then(Raw::grad) };
        take_grad |d| { came(d.x()).and_then(Raw::take_grad) };
        set_grad |d| { d.x().clone().set_grad(d.x().clone()) };
        retain_grad(_);
        register_hook |d| {
            let handle = d.x().register_hook(|grad| Ok(Some(grad.clone())));
            handle.map(HookHandle::remove)
        };
        register_post_accumulate_grad_hook |d| {
            let handle = d.x().register_post_accumulate_grad_hook(|_| Ok(()));
            handle.map(HookHandle::remove)
        };
    }
}

pub mod gradients {
    use nomina_runtime::grad;

    use super::super::given::Given;

    calls! { grad:
        backward(_, _, _);
        gradients |d| {
            let x = d.x();
            let inputs = [x, d.x()];
            let seed = d.bytes.pick(&inputs).clone().detach();
            grad::gradients(x, seed, &inputs[..d.bytes.below(3)], Given::given(d))
        };
    }
}

pub mod raw_mut {
    use nomina_runtime::RawMut;

    calls! { RawMut:
        shape |d| { d.dest_part().shape().to_vec() };
        strides |d| { d.dest_part().strides().len() };
        layout |d| { d.dest_part().layout().clone() };
        rank |d| { d.dest_part().rank() };
        numel |d| { d.dest_part().numel() };
        dtype |d| { d.dest_part().dtype() };
        device |d| { d.dest_part().device() };
        as_mut_ptr |d| { d.dest_part().as_mut_ptr().cast_const() };
        reborrow |d| { d.dest_part().reborrow().numel() };
        created_at |d| { d.dest_part().created_at().is_some() };
        into_slice |d| { d.dest_part().into_slice::<f32>().map(|all| all.fill(1.0)) };
        set |d| {
            let index = d.numbers(d.base.len());
            d.dest_part().set::<i32>(index, 7)
        };
        permute(_, _);
        align(_, places());
        transpose(_, _, _);
        narrow(_, _, size(), size());
        slice(_, _, size(), size(), step());
        select(_, _, size());
        unsqueeze(_, _);
        squeeze(_, _);
        flip(_, _);
        diagonal(_, _, _, step());
        view(_, sizes());
    }
}

pub mod coo {
    use nomina_runtime::raw::RawCoo;

    calls! { RawCoo:
        new(_, index(), _, _);
        shape(_);
        rank(_);
        sparse_dim(_);
        dense_dim(_);
        nnz(_);
        indices(_);
        values(_);
        is_coalesced(_);
        dtype(_);
        to_device(_, _);
        device(_);
    }
}

/// Layouts of tensors, which reach no element themselves.
pub mod strided {
    use nomina_runtime::Strided;

    calls! { Strided:
        shape(layout());
        strides(layout());
        offset(layout());
        numel(layout());
        is_contiguous(layout());
        is_row_major(layout());
        is_disjoint(layout());
        position(layout(), _);
        align(layout(), places());
        permute(layout(), _);
        transpose(_, _, _);
        narrow(_, _, size(), size());
        slice(_, _, size(), size(), step());
        select(_, _, size());
        unsqueeze(_, _);
        squeeze(_, _);
        expand(layout(), sizes());
        flip(_, _);
        diagonal(_, _, _, step());
        windows(_, _, size(), size());
        view(layout(), sizes());
        is_in(layout(), _);
        is_dense(layout());
        suggested_format(layout());
    }
}
