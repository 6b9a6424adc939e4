// The convolutions of the fake cuDNN, one number at a time.
#ifndef NOMINA_HOST_CUDNN_CONVOLVE_H
#define NOMINA_HOST_CUDNN_CONVOLVE_H

#include <vector>

#include "cudnn_names.h"

// A convolution in numbers alone, which a plan's text lists.
struct Program {
    i64 way, type, rank, bias, tf32, engine, workspace, alignment;
    i64 x[5], x_strides[5], w[5], w_strides[5], y[5], y_strides[5];
    i64 before[3], steps[3], apart[3], x_id, w_id, y_id, bias_id;
};
constexpr size_t NUMBERS = sizeof(Program) / sizeof(i64);

struct Job {
    Program p;
    char *x, *w, *y, *bias, *workspace;
};

static size_t element(i64 type) { return type == DOUBLE ? 8 : type == FLOAT ? 4 : 2; }

static u64 count(const i64* dims, i64 rank) {
    i64 all = 1;
    for (i64 i = 0; i < rank; i++) all *= dims[i];
    return static_cast<u64>(all);
}

template <class E> static f64 wide(E x, bool tf32) {
    const Compute<E> value = widen(x);
    if constexpr (same<E, f32>) return tf32 ? to_tf32(value) : value;
    return value;
}

// Adds each product of the operands to its sum.
template <class E> static void convolve(const Job& job) {
    const Program& p = job.p;
    E* const x = reinterpret_cast<E*>(job.x);
    E* const w = reinterpret_cast<E*>(job.w);
    E* const y = reinterpret_cast<E*>(job.y);
    const u64 sums = p.way == GRADIENT ? count(p.w, p.rank) : p.way == DATA ? count(p.x, p.rank) : count(p.y, p.rank);
    std::vector<f64> sum(sums, 0.0);
    const i64 n = p.rank - 2, outs = p.w[0] / (p.x[1] / p.w[1]);
    i64 place[3] = {1, 1, 1}, taps[3] = {1, 1, 1};
    for (i64 i = 0; i < n; i++) place[i] = p.y[2 + i], taps[i] = p.w[2 + i];
    for (i64 b = 0; b < p.x[0]; b++)
        for (i64 k = 0; k < p.w[0]; k++)
            for (i64 c = 0; c < p.w[1]; c++)
                for (i64 at = 0; at < place[0] * place[1] * place[2]; at++)
                    for (i64 tap = 0; tap < taps[0] * taps[1] * taps[2]; tap++) {
                        const i64 ps[3] = {at / (place[1] * place[2]), at / place[2] % place[1], at % place[2]};
                        const i64 ts[3] = {tap / (taps[1] * taps[2]), tap / taps[2] % taps[1], tap % taps[2]};
                        i64 of_x = b * p.x_strides[0] + (k / outs * p.w[1] + c) * p.x_strides[1];
                        i64 of_y = b * p.y_strides[0] + k * p.y_strides[1];
                        i64 of_w = k * p.w_strides[0] + c * p.w_strides[1];
                        bool inside = true;
                        for (i64 i = 0; i < n; i++) {
                            const i64 from = ps[i] * p.steps[i] + ts[i] * p.apart[i] - p.before[i];
                            inside = inside && from >= 0 && from < p.x[2 + i];
                            of_x += from * p.x_strides[2 + i];
                            of_y += ps[i] * p.y_strides[2 + i];
                            of_w += ts[i] * p.w_strides[2 + i];
                        }
                        if (!inside) continue;
                        const auto number = [&](E value) { return wide(value, p.tf32); };
                        if (p.way == FORWARD) sum[u64(of_y)] += number(x[of_x]) * number(w[of_w]);
                        if (p.way == DATA) sum[u64(of_x)] += number(y[of_y]) * number(w[of_w]);
                        if (p.way == GRADIENT) sum[u64(of_w)] += number(x[of_x]) * number(y[of_y]);
                    }
    for (u64 i = 0; p.bias && i < sums; i++)
        sum[i] += wide(reinterpret_cast<E*>(job.bias)[i64(i) / p.y_strides[1] % p.y[1]], false);
    E* const to = p.way == FORWARD ? y : p.way == DATA ? x : w;
    for (u64 i = 0; i < sums; i++) to[i] = narrow<E>(static_cast<Compute<E>>(sum[i]));
}

// Computes a convolution, after checking that its memory is there.
static void compute(const Job& job) {
    const Program& p = job.p;
    const u64 size = element(p.type);
    check_range(job.x, size * count(p.x, p.rank), "the input of a convolution");
    check_range(job.w, size * count(p.w, p.rank), "the weight of a convolution");
    check_range(job.y, size * count(p.y, p.rank), "the result of a convolution");
    if (p.bias) check_range(job.bias, size * static_cast<u64>(p.y[1]), "the bias of a convolution");
    if (p.workspace) {
        check_range(job.workspace, static_cast<u64>(p.workspace), "the workspace of a convolution");
        memset(job.workspace, 0xa5, static_cast<size_t>(p.workspace));
    }
    switch (p.type) {
    case HALF: convolve<f16>(job); break;
    case BFLOAT16: convolve<bf16>(job); break;
    case FLOAT: convolve<f32>(job); break;
    case DOUBLE: convolve<f64>(job); break;
    }
}

#endif
