//! The visitor of a source's syntax.

use proc_macro2::Span;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, Token};

use super::tokens::{self, Unread};
use super::{Binary, Binding, Call, Found, Function, List, Macro, Part};

/// Finds calls, operators and declarations in a source.
pub fn collect(text: &str) -> Result<Found, Unread> {
    let found = tokens::read(text, |tokens| {
        let mut found = Found::default();
        found.visit_file(&syn::parse2(tokens).ok()?);
        Some(found)
    });
    found?.ok_or(Unread::NotRust)
}

/// Returns whether a text can be parsed.
pub fn is_rust(text: &str) -> bool {
    tokens::read(text, |tokens| syn::parse2::<syn::File>(tokens).is_ok()) == Ok(true)
}

fn part(node: &impl Spanned) -> Part {
    range(node.span())
}

fn range(span: Span) -> Part {
    span.byte_range()
}

fn parts<'n, T: Spanned + 'n>(nodes: impl IntoIterator<Item = &'n T>) -> Vec<Part> {
    nodes.into_iter().map(part).collect()
}

impl Found {
    fn list(&mut self, whole: Part, items: Vec<Part>, of_types: bool) {
        self.lists.push(List {
            whole,
            items,
            of_types,
        });
    }

    fn bind(&mut self, pat: &syn::Pat, ty: Option<&syn::Type>, init: Option<&Expr>) {
        match pat {
            syn::Pat::Type(typed) => self.bind(&typed.pat, Some(&typed.ty), init),
            _ => self.bindings.push(Binding {
                name: match pat {
                    syn::Pat::Ident(name) => name.ident.to_string(),
                    _ => String::new(),
                },
                pattern: part(pat),
                ty: ty.map(part),
                init: init.map(part),
            }),
        }
    }

    fn function(&mut self, whole: Part, signature: &syn::Signature, attrs: &[syn::Attribute]) {
        let generics = signature.generics.type_params();
        self.functions.push(Function {
            whole,
            generics: generics.map(|p| (p.ident.to_string(), part(p))).collect(),
            relations: attrs
                .iter()
                .find(|attr| {
                    attr.path()
                        .segments
                        .last()
                        .is_some_and(|s| s.ident == "relations")
                })
                .map(part),
            output: match &signature.output {
                syn::ReturnType::Type(_, ty) => Some(part(ty)),
                syn::ReturnType::Default => None,
            },
        });
        for input in &signature.inputs {
            if let syn::FnArg::Typed(typed) = input {
                self.bind(&typed.pat, Some(&typed.ty), None);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Found {
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.calls.push(Call {
            whole: part(call),
            receiver: Some(part(&call.receiver)),
            name: part(&call.method),
            args: parts(&call.args),
        });
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        let name = match &*call.func {
            Expr::Path(path) => path.path.segments.last().map(|last| part(&last.ident)),
            _ => None,
        };
        self.calls.push(Call {
            whole: part(call),
            receiver: None,
            name: name.unwrap_or_else(|| part(&call.func)),
            args: parts(&call.args),
        });
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        self.binaries.push(Binary {
            left: part(&binary.left),
            op: part(&binary.op),
            right: part(&binary.right),
        });
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_index(&mut self, index: &'ast syn::ExprIndex) {
        self.brackets.push((part(&index.expr), part(&index.index)));
        visit::visit_expr_index(self, index);
    }

    fn visit_expr_tuple(&mut self, tuple: &'ast syn::ExprTuple) {
        self.list(part(tuple), parts(&tuple.elems), false);
        visit::visit_expr_tuple(self, tuple);
    }

    fn visit_expr_array(&mut self, array: &'ast syn::ExprArray) {
        self.list(part(array), parts(&array.elems), false);
        visit::visit_expr_array(self, array);
    }

    fn visit_type_tuple(&mut self, tuple: &'ast syn::TypeTuple) {
        self.list(part(tuple), parts(&tuple.elems), true);
        visit::visit_type_tuple(self, tuple);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        let init = local.init.as_ref().map(|init| &*init.expr);
        self.bind(&local.pat, None, init);
        visit::visit_local(self, local);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(part(item), &item.sig, &item.attrs);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(part(item), &item.sig, &item.attrs);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let brackets = mac.delimiter.span();
        self.macros.push(Macro {
            name: mac
                .path
                .segments
                .last()
                .map_or_else(String::new, |s| s.ident.to_string()),
            inner: range(brackets.open()).end..range(brackets.close()).start,
        });
        // Most macros take expressions; the contents of others are handled as text.
        let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
        if let Ok(exprs) = parser.parse2(mac.tokens.clone()) {
            for expr in &exprs {
                Visit::visit_expr(self, expr);
            }
        }
    }
}
