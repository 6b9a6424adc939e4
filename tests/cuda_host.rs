//! The emulated GPU: correct kernels give correct results in every order, and errors that a GPU
//! would not forgive end the program with a text that says where.

#[cfg(target_os = "linux")]
#[path = "cuda/host.rs"]
#[allow(dead_code)] // the rest is used by test programs of nomina itself
mod host;

#[cfg(target_os = "linux")]
mod tests {
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use std::sync::OnceLock;

    use super::host;

    const ORDERS: [&str; 4] = ["forward", "backward", "7", "8"];

    /// The sums that the kernels of `tests/cuda/host.cu` must print.
    const SUMS: &str = "997 998 999 1000 1001 1002";

    fn sources() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda")
    }

    /// Builds the program that drives the emulated GPU; `None` if the machine has no C++ compiler.
    fn drive() -> Option<&'static Path> {
        static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
        BUILT
            .get_or_init(|| build("drive", &["-lcuda", "-lnvrtc"]))
            .as_deref()
    }

    /// Builds a program of `tests/cuda` that links to emulated libraries.
    fn build(name: &str, libraries: &[&str]) -> Option<PathBuf> {
        if Command::new(host::compiler())
            .arg("--version")
            .output()
            .is_err()
        {
            eprintln!("skipped: no C++ compiler");
            return None;
        }
        let fakes = host::fakes().unwrap();
        let program = fakes.join(format!("{name}-{}", std::process::id()));
        let built = Command::new(host::compiler())
            .args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-o"])
            .arg(&program)
            .arg(sources().join(format!("{name}.cpp")))
            .arg("-L")
            .arg(&fakes)
            .args(libraries)
            .output()
            .unwrap();
        assert!(
            built.status.success(),
            "{}",
            String::from_utf8_lossy(&built.stderr)
        );
        let named = fakes.join(name);
        std::fs::rename(program, &named).unwrap();
        Some(named)
    }

    /// Runs a kernel. Returns whether the program succeeded, and its output.
    fn run(kernel: &str, env: &[(&str, &str)]) -> Option<(bool, String)> {
        run_with(kernel, &host::kernels(), env)
    }

    /// Like [`run`], with the headers of a folder.
    fn run_with(kernel: &str, headers: &Path, env: &[(&str, &str)]) -> Option<(bool, String)> {
        let output = host::with_fakes(drive()?)
            .unwrap()
            .args([kernel.as_ref(), headers.as_os_str()])
            .arg(sources().join("host.cu"))
            .envs(env.iter().copied())
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        Some((
            output.status.success(),
            String::from_utf8_lossy(&said).into_owned(),
        ))
    }

    /// The emulated cuDNN refuses descriptors that are used wrongly, so that the tests of convolutions show that ours
    /// are used rightly.
    #[test]
    fn descriptors_are_checked() {
        let Some(program) = build("descriptors", &["-lcudnn", "-lcuda"]) else {
            return;
        };
        let output = host::with_fakes(&program).unwrap().output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let wanted = [
            "without attributes 2000",
            "with another type 2010",
            "of another descriptor 3000",
            "too many values 2005",
            "a stride too few 2000",
            "not finalized 2004",
            "read too early 2004",
            "complete 0",
            "set too late 1001",
            "finalized 0",
            "without a weight 2000",
        ];
        assert_eq!(said.lines().collect::<Vec<_>>(), wanted);
        let why = String::from_utf8_lossy(&output.stderr);
        assert!(
            why.contains("a descriptor is used after it was destroyed"),
            "{why}"
        );
        assert!(!output.status.success());
    }

    fn prints(kernel: &str, wanted: &str) {
        for order in ORDERS {
            let Some((well, said)) = run(kernel, &[("NOMINA_FAKE_ORDER", order)]) else {
                return;
            };
            assert!(well, "{kernel} {order}: {said}");
            assert_eq!(said.trim(), wanted, "{kernel} {order}");
        }
    }

    fn ends(kernel: &str, texts: &[&str]) {
        for order in ORDERS {
            let Some((well, said)) = run(kernel, &[("NOMINA_FAKE_ORDER", order)]) else {
                return;
            };
            assert!(!well, "{kernel} {order}: {said}");
            for text in texts {
                assert!(said.contains(text), "{kernel} {order}: {said}");
            }
        }
    }

    /// Compiles all files of the emulation, and the shared device code that class files include.
    #[test]
    fn the_host_compiles_without_a_warning() {
        if drive().is_none() {
            return;
        }
        let kernels = host::kernels();
        let host_files = [kernels.join("host"), kernels.join("host/driver")];
        let mut files: Vec<PathBuf> = host_files.iter().flat_map(|folder| list(folder)).collect();
        files.retain(|file| file.extension().is_some_and(|ending| ending == "cpp"));
        assert!(files.len() > 6, "{files:?}");
        files.extend(["index.cuh", "block.cuh", "numeric.cuh"].map(|name| kernels.join(name)));
        for file in files {
            let mut command = Command::new(host::compiler());
            command.args([
                "-std=c++17",
                "-O1",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-fsyntax-only",
            ]);
            if file.extension().is_some_and(|ending| ending == "cuh") {
                // The device compiler unrolls the loops, and only the class files show which
                // functions are called.
                command.args(["-Wno-unknown-pragmas", "-Wno-unused-function", "-include"]);
                command.arg(kernels.join("host/shim.h"));
            }
            let output = command.args(["-x", "c++"]).arg(&file).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{}: {said}", file.display());
        }
    }

    fn list(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn reductions_are_exact_in_every_order() {
        prints("block_sum", SUMS);
        prints("tree_sum", SUMS);
    }

    #[test]
    fn lanes_exchange_what_they_should() {
        prints("warp_calls", "0 0 0 0 0 0");
        prints("look_back_in_order", "1 1 1 1 1 1");
    }

    #[test]
    fn a_removed_barrier_is_seen() {
        for order in ORDERS {
            let Some((_, said)) = run("tree_sum_without_barrier", &[("NOMINA_FAKE_ORDER", order)])
            else {
                return;
            };
            assert_ne!(said.trim(), SUMS, "{order}");
        }
    }

    /// Removes the barriers of a block's reduction one by one: an order of threads shows each.
    #[test]
    fn each_barrier_of_a_reduction_is_needed() {
        if drive().is_none() {
            return;
        }
        const BARRIER: &str = "__syncthreads();";
        let text = std::fs::read_to_string(host::kernels().join("block.cuh")).unwrap();
        let barriers: Vec<usize> = text.match_indices(BARRIER).map(|(at, _)| at).collect();
        assert_eq!(barriers.len(), 2);
        prints("two_sums", SUMS);
        let folder = host::fakes().unwrap();
        let folder = folder.with_extension(format!("barriers-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for file in list(&host::kernels()) {
            if file.extension().is_some_and(|ending| ending == "cuh") {
                std::fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
            }
        }
        for at in barriers {
            let mut without = text.clone();
            without.replace_range(at..at + BARRIER.len(), "");
            std::fs::write(folder.join("block.cuh"), without).unwrap();
            let is_seen = |order| {
                let (_, said) =
                    run_with("two_sums", &folder, &[("NOMINA_FAKE_ORDER", order)]).unwrap();
                said.trim() != SUMS
            };
            assert!(ORDERS.into_iter().any(is_seen), "the barrier at byte {at}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn shared_memory_begins_poisoned() {
        prints("unset_shared", "-nan -nan -nan -nan -nan -nan");
    }

    #[test]
    fn writes_beyond_an_end_are_caught() {
        ends(
            "writes_beyond",
            &[
                "0 bytes behind the end of the 24 bytes",
                "kernel writes_beyond",
            ],
        );
        ends(
            "writes_beyond_shared",
            &["shared array of 1024 bytes", "kernel writes_beyond_shared"],
        );
        ends(
            "index_beyond",
            &["index beyond the end of an array, at host.cu:"],
        );
        ends(
            "far_away",
            &[
                "bad access",
                "kernel far_away, block (2, 0, 0), thread (3, 0, 0)",
            ],
        );
    }

    #[test]
    fn reads_beyond_an_end_are_caught_by_a_fence() {
        let fenced = [("NOMINA_FAKE_FENCE", "1")];
        let Some((well, said)) = run("reads_beyond", &fenced) else {
            return;
        };
        assert!(!well && said.contains("bad access"), "{said}");
        prints("reads_beyond", "-nan -nan -nan -nan -nan -nan");
        assert_eq!(run("block_sum", &fenced).unwrap().1.trim(), SUMS);
    }

    #[test]
    fn misaligned_accesses_are_caught() {
        ends(
            "misaligned",
            &["not aligned for its type, at host.cu:", "kernel misaligned"],
        );
    }

    #[test]
    fn divergence_is_caught() {
        ends(
            "divergent_barrier",
            &["divergent barrier", "host.cu:", "kernel divergent_barrier"],
        );
        ends(
            "divergent_warp",
            &[
                "nobody can go on",
                "128 in __shfl_xor_sync of lanes ffffffff",
            ],
        );
        ends(
            "different_calls",
            &["meet in different calls", "__shfl_up_sync", "__ballot_sync"],
        );
    }

    #[test]
    fn wrong_arguments_are_caught() {
        ends(
            "wrong_size",
            &["takes 24 bytes of arguments and was given 16"],
        );
        ends(
            "freed_before",
            &["the argument at byte 0", "memory that was freed"],
        );
        ends(
            "host_pointer",
            &["the argument at byte 0", "memory of the host"],
        );
        ends("too_many_threads", &["error 701"]);
        let texts = [
            "another device: error 1",
            "the argument at byte 0",
            "memory of another device",
        ];
        ends("other_device", &texts);
    }

    #[test]
    fn a_missing_synchronise_is_seen() {
        let lazy = [("NOMINA_FAKE_LAZY", "1")];
        let Some((well, said)) = run("not_awaited", &lazy) else {
            return;
        };
        assert!(well, "{said}");
        assert_eq!(said.trim(), "-nan -nan -nan -nan -nan -nan");
        assert_eq!(run("block_sum", &lazy).unwrap().1.trim(), SUMS);
    }

    #[test]
    fn the_compilers_errors_are_in_the_log() {
        ends(
            "does_not_compile",
            &["host.cu:", "nothing_of_this_name", "error 6"],
        );
    }

    #[test]
    fn what_was_used_is_reported() {
        let Some((_, said)) = run("block_sum", &[("NOMINA_FAKE_REPORT", "1")]) else {
            return;
        };
        assert!(
            said.contains("allocations made 2, live 0, of 0 bytes"),
            "{said}"
        );
        assert!(said.contains("modules 1, launches 1"), "{said}");
        assert!(said.contains("launched block_sum 1"), "{said}");
    }

    #[test]
    fn memory_has_an_end() {
        let Some((well, said)) = run("block_sum", &[("NOMINA_FAKE_MEMORY", "24010")]) else {
            return;
        };
        assert!(
            !well && said.contains("cuMemAllocAsync") && said.contains("error 2"),
            "{said}"
        );
    }
}
