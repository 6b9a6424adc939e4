//! The order in which tensors are contracted.
//!
//! Each step contracts two tensors to one. Its cost is the number of multiplications, one for each combination of
//! indices of both operands' letters, plus the elements written. For few tensors the cheapest order is found by
//! exhaustive search; for many, greedily.

use super::letters::LetterSet;

/// The most tensors for exhaustive search.
const EXACT: usize = 8;
/// The cost of a written element in multiplications; intermediates should stay small.
const WRITTEN: f64 = 4.0;

/// The letters of the operands, and their sizes.
pub(super) struct Problem {
    pub terms: Vec<LetterSet>,
    pub output: LetterSet,
    pub sizes: Vec<usize>,
}

impl Problem {
    fn numel(&self, letters: &LetterSet) -> f64 {
        letters
            .iter()
            .map(|letter| self.sizes[letter] as f64)
            .product()
    }

    /// Returns the cost of contracting two tensors, of which `left` letters remain.
    fn step(&self, a: &LetterSet, b: &LetterSet, left: &LetterSet) -> f64 {
        self.numel(&a.or(b)) + WRITTEN * self.numel(left)
    }

    /// Returns the steps in order: two tensors by number; the result gets the next number.
    pub(super) fn order(&self) -> Vec<(usize, usize)> {
        match self.terms.len() {
            0 | 1 => Vec::new(),
            2 => vec![(0, 1)],
            n if n <= EXACT => self.exact(),
            _ => self.greedy(),
        }
    }

    /// Returns all letters of the terms in `mask` that the result or another term needs.
    fn needed(&self, mask: usize) -> LetterSet {
        let (mut inside, mut outside) = (LetterSet::default(), self.output.clone());
        for (at, term) in self.terms.iter().enumerate() {
            let side = if mask >> at & 1 == 1 {
                &mut inside
            } else {
                &mut outside
            };
            *side = side.or(term);
        }
        inside.and(&outside)
    }

    /// Returns the cheapest split of every set of terms into two smaller ones.
    fn exact(&self) -> Vec<(usize, usize)> {
        let n = self.terms.len();
        let all = (1_usize << n) - 1;
        let letters: Vec<LetterSet> = (0..=all)
            .map(|mask| match mask.count_ones() {
                1 => self.terms[mask.trailing_zeros() as usize].clone(),
                _ => self.needed(mask),
            })
            .collect();
        let mut cost = vec![0.0_f64; all + 1];
        let mut split = vec![0_usize; all + 1];
        for mask in 1..=all {
            if mask.count_ones() < 2 {
                continue;
            }
            cost[mask] = f64::INFINITY;
            let lowest = mask & mask.wrapping_neg();
            // Each split counts once: as the half with the lowest term.
            let mut part = (mask - 1) & mask;
            while part > 0 {
                if part & lowest != 0 {
                    let rest = mask & !part;
                    let step = self.step(&letters[part], &letters[rest], &letters[mask]);
                    let total = cost[part] + cost[rest] + step;
                    if total < cost[mask] || split[mask] == 0 {
                        (cost[mask], split[mask]) = (total, part);
                    }
                }
                part = (part - 1) & mask;
            }
        }
        let mut steps = Vec::new();
        self.unfold(all, &split, &mut steps);
        steps
    }

    /// Appends the steps that contract `mask`, and returns the result's number.
    fn unfold(&self, mask: usize, split: &[usize], steps: &mut Vec<(usize, usize)>) -> usize {
        if mask.count_ones() == 1 {
            return mask.trailing_zeros() as usize;
        }
        let left = self.unfold(split[mask], split, steps);
        let right = self.unfold(mask & !split[mask], split, steps);
        steps.push((left, right));
        self.terms.len() + steps.len() - 1
    }

    /// Always contracts the pair whose result is smallest compared with its operands.
    fn greedy(&self) -> Vec<(usize, usize)> {
        let mut live: Vec<(usize, LetterSet)> = self.terms.iter().cloned().enumerate().collect();
        let mut steps = Vec::new();
        while live.len() > 1 {
            let mut best: Option<(f64, f64, usize, usize, LetterSet)> = None;
            // The number of live terms with each letter: a step ends a letter that no other term has.
            let mut holders = vec![0_usize; self.sizes.len()];
            for (_, term) in &live {
                term.iter().for_each(|letter| holders[letter] += 1);
            }
            for i in 0..live.len() {
                for j in i + 1..live.len() {
                    let (a, b) = (&live[i].1, &live[j].1);
                    let mut left = LetterSet::default();
                    for letter in a.or(b).iter() {
                        let own = usize::from(a.has(letter)) + usize::from(b.has(letter));
                        if self.output.has(letter) || holders[letter] > own {
                            left.insert(letter);
                        }
                    }
                    let grows = self.numel(&left) - self.numel(a) - self.numel(b);
                    let cost = self.step(a, b, &left);
                    let better = match &best {
                        None => true,
                        Some((least, least_cost, ..)) => {
                            grows < *least || (grows == *least && cost < *least_cost)
                        }
                    };
                    if better {
                        best = Some((grows, cost, i, j, left));
                    }
                }
            }
            let Some((_, _, i, j, left)) = best else {
                break;
            };
            let (b, _) = live.remove(j);
            let (a, _) = live.remove(i);
            steps.push((a, b));
            live.push((self.terms.len() + steps.len() - 1, left));
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(terms: &[&[usize]], output: &[usize], sizes: &[usize]) -> Problem {
        let set = |letters: &&[usize]| letters.iter().copied().collect::<LetterSet>();
        Problem {
            terms: terms.iter().map(set).collect(),
            output: set(&output),
            sizes: sizes.to_vec(),
        }
    }

    #[test]
    fn a_chain_is_taken_from_its_cheap_end() {
        let chain: &[&[usize]] = &[&[0, 1], &[1, 2], &[2, 3]];
        let order = problem(chain, &[0, 3], &[1, 100, 100, 100]).order();
        assert_eq!(order, [(0, 1), (3, 2)]);
        let order = problem(chain, &[0, 3], &[100, 100, 100, 1]).order();
        assert_eq!(order, [(1, 2), (0, 3)]);
    }

    #[test]
    fn every_tensor_is_used_once() {
        for n in 1..14 {
            let terms: Vec<Vec<usize>> = (0..n).map(|i| vec![i, i + 1]).collect();
            let terms: Vec<&[usize]> = terms.iter().map(Vec::as_slice).collect();
            let sizes: Vec<usize> = (0..=n).map(|i| i % 5 + 1).collect();
            let order = problem(&terms, &[0, n], &sizes).order();
            assert_eq!(order.len(), n - 1);
            let mut used: Vec<usize> = order.iter().flat_map(|&(a, b)| [a, b]).collect();
            used.sort_unstable();
            assert_eq!(used, (0..2 * (n - 1)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn sizes_without_limit_have_an_order_too() {
        let huge = usize::MAX;
        let terms: &[&[usize]] = &[&[0, 1], &[2, 3], &[4, 5], &[6, 7]];
        let order = problem(terms, &[0, 1, 2, 3, 4, 5, 6, 7], &[huge; 8]).order();
        assert_eq!(order.len(), 3);
    }
}
