//! Random numbers.

use nomina_runtime::call;

calls! { call:
    random(_, _, _, _);
    sampled(_, sizes(), _, _, _, _);
    rand(sizes(), _, _, _);
    randn(sizes(), _, _, _);
    randint(sizes(), _, _, _, _);
    randperm(size(), _, _, _);
    bernoulli(float(), _);
    bernoulli_into(_, float(), _);
    poisson(float(), _);
    normal(_, _, _);
    multinomial(float(), _, size(), _, _);
}
