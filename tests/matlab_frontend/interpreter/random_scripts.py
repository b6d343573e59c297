"""Random scripts with a loop over numbers, arrays and random draws, nested to some depth."""

import random

HELPER = """function r = h(t)
  if t > 2
    r = t - 1;
    return;
  end
  r = t*0.5;
  for jj = 1:2
    r = r + jj;
  end
end
"""
START = (
    "rng({seed}); n = {n}; s = {s}; b = {b}; c = {c}; x = 0.5; f = @(t) t^2 - c*t + 1;",
    "v = {v}; p = v; g = [1 2]; e = [5; 6];",
    "A = reshape(mod((1:n*n)*7, {m}), n, n); L = {mask}; told = {{}}; st.count = 0;",
)
HEADS = (
    *("for i = 1:n", "for i = 2:n-1", "for i = n:-1:1", "for i = 1:3*n", "for i = 0.5:0.5:n"),
    *("for i = [3 1 2 5 4 1 1 2]", "for i = 1:2:n", "for i = -2:n"),
)
RANGES = (
    *("1:n", "2:n", "i:n", "n:-1:1", "1:i", "1:2:n", "i+1:n", "1:c", "c:n", "1:c:n", "n:-c:1"),
)


def script(seed):
    """A script; its variables tell what it did."""
    return Script(random.Random(seed)).text()  # noqa: S311  (no secret)


class Script:
    def __init__(self, rng):
        self.rng, self.names = rng, ["i"]

    def text(self):
        pick, n = self.rng.choice, self.rng.choice([3, 5, 8, 12])
        facts = {
            "seed": self.rng.randint(0, 9),
            "n": n,
            "s": pick(["0", "1.5", "-2", "1e300"]),
            "b": pick(["true", "false"]),
            "c": self.rng.randint(-3, 9),
            "v": pick(["zeros(1,n)", "(1:n)*1.5", "(n:-1:1)'", "ones(n,1)"]),
            "m": self.rng.randint(2, 19),
            "mask": pick(["true(1,n)", "false(1,n)", "v > 2"]),
        }
        lines = [line.format(**facts) for line in START]
        body = [line for _ in range(self.rng.randint(2, 4)) for line in self.statement(3)]
        if self.rng.random() < 0.75:
            lines += [pick(HEADS), *body, "end"]
        else:
            bound = pick(["n", "3*n", "40"])
            lines += ["i = 0;", f"while i < {bound}{pick(['', ' && x < 1e9'])}", "i = i + 1;"]
            lines += [*body, "end"]
        return HELPER + "\n".join([*lines, "last = rand;"]) + "\n"

    # -- expressions -------------------------------------------------------------------------------
    def number(self, depth):
        pick = self.rng.choice
        if depth <= 0 or self.rng.random() < 0.25:
            return pick([*self.names, *"scxn", "2", "-1", "0.5", "1e-3", "0", "rand", "numel(g)"])

        def a():
            return self.number(depth - 1)

        return pick(
            [
                lambda: f"({a()} {pick(['+', '-', '*', '/', '.*', './'])} {a()})",
                lambda: f"({a()} {pick(['+', '-', '*'])} {a()})",
                lambda: f"{pick(['abs', 'floor', 'ceil', 'round', 'fix', 'sqrt'])}({a()})",
                lambda: f"{pick(['sin', 'cos', 'exp', 'sign', 'log', 'tanh'])}({a()})",
                lambda: f"{pick(['mod', 'rem', 'max', 'min', 'atan2'])}({a()}, {a()})",
                lambda: f"v({self.place()})",
                lambda: f"A({self.place()}, {self.place()})",
                lambda: f"A({self.place()})",
                lambda: f"({a()})^{pick(['2', '3', '0.5', '-1'])}",
                lambda: f"-{a()}",
                lambda: pick(["numel(v)", "length(v)", "size(A, 1)", "pi", "size(A, 2)"]),
                lambda: f"({self.condition(depth - 1)})",
                lambda: f"{pick('fh')}({a()})",
            ]
        )()

    def place(self):
        pick = self.rng.choice
        return pick(
            [
                lambda: pick(self.names),
                lambda: f"{pick(self.names)}{pick(['-1', '+1', '+2'])}",
                lambda: f"mod({pick(self.names)}*3, n) + 1",
                lambda: pick(["1", "2", "n", "end", "end-1", "c"]),
            ]
        )()

    def condition(self, depth):
        pick, chance = self.rng.choice, self.rng.random()
        if depth <= 0 or chance < 0.6:
            comparison = pick(["<", ">", "<=", ">=", "==", "~="])
            return f"{self.number(1)} {comparison} {self.number(1)}"
        if chance < 0.75:
            operator = pick(["&&", "||", "&", "|"])
            return f"({self.condition(depth - 1)} {operator} {self.condition(depth - 1)})"
        if chance < 0.85:
            return f"~({self.condition(depth - 1)})"
        return f"L({self.place()})" if chance < 0.93 else pick(["b", "true", "s", "c"])

    # -- statements --------------------------------------------------------------------------------
    def statement(self, depth):
        pick = self.rng.choice
        simple = [
            lambda: f"{pick('sx')} = {self.number(3)};",
            lambda: f"{pick('sx')} = {self.number(3)};",
            lambda: f"v({self.place()}) = {self.number(2)};",
            lambda: f"A({self.place()}, {self.place()}) = {self.number(2)};",
            lambda: f"L({self.place()}) = {self.condition(1)};",
            lambda: f"b = {self.condition(2)};",
            lambda: f"t = {self.number(2)};",
            lambda: f"q = {self.number(1)}; s = s + q;",
            lambda: pick(["s = j;", "c = j;", "y = i;", "c = randi(5);", "s = s + randn();"]),
            lambda: pick(["p = v;", "v = p;", "p(1) = x; v = p;"]),
            lambda: f"g(end+1) = {self.number(1)};",
            lambda: f"g = [g, {self.number(1)}]; s = s + g(end) + numel(e);",
            lambda: f"e = [e; {self.number(1)}]; g({self.place()}) = 1;",
        ]
        compound = [self.branches, self.inner_for, self.inner_while, self.jump]
        if depth <= 0 or self.rng.random() < 0.65:
            return [pick(simple)()]
        return pick(compound)(depth - 1)

    def block(self, depth):
        return [line for _ in range(self.rng.randint(1, 3)) for line in self.statement(depth)]

    def unknown(self):
        """A statement that no kernel knows."""
        return self.rng.choice(
            [
                "fprintf('%.6g ', s);",
                "disp(numel(g))",
                "told{end+1} = numel(v);",
                "st.count = st.count + 1; st.last = i;",
                "note = sprintf('%d', numel(e)); x = numel(note);",
                "u = v*2; x = sum(u(1:2));",
                "[x, at] = max(v);",
                "v(2) = []; v = [v(:)' 7 8];",
                "x",
                "try, x = v(c); catch, x = -1; end",
                "if n > 4, return, end",
                "error('my:id', 'stopped at %g', i);",
            ]
        )

    def branches(self, depth):
        lines = [f"if {self.condition(2)}", *self.block(depth)]
        if self.rng.random() < 0.4:
            lines.insert(self.rng.randint(1, len(lines)), self.unknown())
        if self.rng.random() < 0.3:
            lines += [f"elseif {self.condition(1)}", *self.block(depth)]
        if self.rng.random() < 0.5:
            lines += ["else", *self.block(depth)]
        return [*lines, "end"]

    def inner_for(self, depth):
        name = next((n for n in "jkm" if n not in self.names), "z")
        self.names.append(name)
        lines = [f"for {name} = {self.rng.choice(RANGES)}", *self.block(depth), "end"]
        self.names.remove(name)
        return lines

    def inner_while(self, depth):
        name = next((n for n in ("w1", "w2", "w3") if n not in self.names), None)
        if name is None:  # loops within one another need counters of their own
            return self.branches(depth)
        bound = f"{name} < {self.rng.randint(1, 5)}{self.rng.choice(['', ' && s < 1e6'])}"
        self.names.append(name)
        lines = [f"{name} = 0;", f"while {bound}", f"{name} = {name} + 1;"]
        lines += [*self.block(depth), "end"]
        self.names.remove(name)
        return lines

    def jump(self, _depth):
        return [f"if {self.condition(1)}, {self.rng.choice(['break', 'continue'])}, end"]


def script_of_vectors(seed):
    """A script whose loop is over rows, columns and parts of a matrix."""
    return Vectors(random.Random(seed)).text()  # noqa: S311  (no secret)


class Vectors:
    """Columns u, v and w (single), a row r of as many elements, a square matrix A."""

    def __init__(self, rng):
        self.rng, self.places = rng, ["k", "2", "n", "1", "end", "mod(3*k, n) + 1", "k + 1"]

    def text(self):
        pick = self.rng.choice
        lines = [
            f"rng({self.rng.randint(0, 9)}); n = {pick([2, 3, 5, 8])}; s = 0.5; b = single(0.3);",
            f"u = {pick(['(1:n)', '-(1:n)/3', 'zeros(1, n)'])}'; v = u*0.5 + 1; w = single(v);",
            "r = 1:n; A = reshape(mod((1:n*n)*7, 5), n, n) - 2; m = u > 1; t = u;",
            f"for k = {pick(['1:n', '2:n-1', '1:3*n', 'n:-1:1'])}",
        ]
        for _ in range(self.rng.randint(1, 5)):
            lines += self.statement(1)
        lines += ["end", "last = rand;"]
        if pick([True, False]):  # where other variables are read by nothing
            names = ", ".join(self.rng.sample("uvwrAsm", self.rng.randint(1, 4)))
            lines = [
                f"[{names}] = f();",
                "last = rand;",
                f"function [{names}] = f()",
                *lines,
                "end",
            ]
        return "\n".join(lines) + "\n"

    def column(self, depth):
        pick = self.rng.choice
        if depth <= 0 or self.rng.random() < 0.2:
            leaves = ["u", "v", "w", "u", "v", "t", "d"]
            return pick([*leaves, f"A(:, {pick(self.places)})", f"A(1:n, {pick(self.places)})"])

        def a():
            return self.column(depth - 1)

        return pick(
            [
                lambda: f"({a()} {pick(['+', '-', '.*', './'])} {a()})",
                lambda: f"({self.number()} {pick(['+', '-', '*', '.*', './'])} {a()})",
                lambda: f"({a()} {pick(['+', '-', '*', '/'])} {self.number()})",
                lambda: f"{pick(['abs', 'floor', 'exp', 'sin', 'tanh', 'sqrt', 'double'])}({a()})",
                lambda: f"{pick(['max', 'min'])}({a()}, {pick([a(), self.number()])})",
                lambda: f"mod({a()}, {pick(['3', '-2', '0.5', '0'])})",
                lambda: f"-{a()}",
                lambda: f"({a()}).^{pick(['2', '3', '-1', '0.5'])}",
                lambda: f"({a()} {pick(['<', '>=', '==', '~='])} {pick([a(), self.number()])})",
                lambda: f"randn(n, 1{pick(['', chr(44) + ' ' + repr('single')])})",
            ]
        )()

    def mask(self):
        pick = self.rng.choice
        return f"{pick('uvt')} {pick(['<', '>=', '~='])} {self.number()}"

    def chosen(self):
        pick = self.rng.choice
        return f"{pick('uvt')}(m)*{self.number()} {pick('+-')} {pick(['u(m)', 'v(m)', '1', 's'])}"

    def total(self):
        name, other = self.rng.choice("uvtwd"), self.rng.choice("uv")
        made = self.rng.choice(["sum", "max", "min", "mean", "norm", "prod", "numel", "length"])
        return self.rng.choice(
            [f"{made}({name})", f"dot({name}, {other})", f"{name}'*{other}", f"any({self.mask()})"]
        )

    def row(self):
        pick = self.rng.choice
        return pick(["r", f"A({pick(self.places)}, :)", "r*0.5 + 1", "r - A(k, :)", "cos(r)"])

    def number(self):
        places = self.places
        return self.rng.choice(
            ["s", "k", "2", "0.1", "b", f"u({self.rng.choice(places)})", "numel(v)", "r(2)"]
        )

    def statement(self, depth):
        pick = self.rng.choice
        makers = [
            lambda: [f"{pick('uvt')} = {self.column(2)};"] * 1,
            lambda: [f"{pick('uv')} = {self.column(2)};"],
            lambda: [f"{pick('uvt')} = {pick(['zeros', 'ones'])}(n, {pick('11kn')});"],
            lambda: [f"{pick('uv')}({pick(['1:2:n', '2:k:end', '1:n-1:n'])}) = {self.number()};"],
            lambda: [f"{pick('uv')}(1:2) = [{self.number()}; {self.number()}];"],
            lambda: [f"d = u({pick(['1:2:end', '1:k:n', '2:3:n'])}); s = s/9 + sum(d);"],
            lambda: [f"e = [{self.number()}, {self.number()}]; s = e(2) - e(1)/8;"],
            lambda: [f"w = single({self.column(1)});"],
            lambda: [f"d = {self.column(1)};"],
            lambda: [f"m = {self.column(0)} > {self.number()};"],
            lambda: [f"A(:, {pick(self.places)}) = {pick([self.column(1), self.number()])};"],
            lambda: [f"A({pick(self.places)}, :) = {self.row()};"],
            lambda: [f"r = {self.row()};"],
            lambda: [
                f"{pick('uv')}({pick(['1:end-1', '2:end', '1:n-1', ':'])}) = {self.number()};"
            ],
            lambda: [f"v(2:end) = {pick(['u', 'v', 't'])}(1:end-1);"],
            lambda: [f"s = {self.number()}*0.5 + {self.number()};"],
            lambda: [f"s = {self.total()}*0.5 + {self.number()};"],
            lambda: [f"u = [{pick(['u(end); u(1:end-1)', 'u(2:end); u(1)'])}]*0.5;"],
            lambda: [f"v = {pick(['A', '0.1*A', chr(65) + chr(39)])}*u;"],
            lambda: [f"r = r*{pick(['A', chr(65) + chr(39)])}/9;"],
            lambda: [f"{pick('uvt')} = circshift({self.column(1)}, {pick(['1', '-2', 'k'])});"],
            lambda: [f"{pick('uvwt')}({pick(['m', self.mask()])}) = {self.number()};"],
            lambda: ["m = " + self.mask() + ";", f"{pick('uv')}(m) = {self.chosen()};"],
        ]
        if depth:
            makers.append(
                lambda: [
                    f"if {self.number()} > {pick(['1', 's', '2.5'])}",
                    *self.statement(0),
                    *pick([[], ["else", *self.statement(0)]]),
                    "end",
                ]
            )
        return pick(makers)()


def script_of_matrices(seed):
    """A script whose loop is over matrices, and their rows and columns."""
    return Matrices(random.Random(seed)).text()  # noqa: S311  (no secret)


class Matrices(Vectors):
    """Matrices U, V, W (single) and B (logical) of n rows and p columns, S of n and n."""

    def text(self):
        pick = self.rng.choice
        n, p = pick([2, 3, 5]), pick([2, 4, 5])
        lines = [
            f"rng(1); n = {n}; p = {p}; s = 0.5; b = single(0.3); u = (1:n)'; v = u/2; t = u;",
            "w = single(u);",
            "r = 1:p; A = reshape(mod((1:n*n)*7, 5), n, n) - 2; m = u > 1;",
            "U = reshape(mod((1:n*p)*7, 11), n, p)/3; V = U*0.5 - 1; W = single(U); B = U > 2;",
            "T = V;",
            f"for k = {pick(['1:n', '2:p-1', '1:3*n', 'n:-1:1'])}",
        ]
        for _ in range(self.rng.randint(1, 4)):
            lines += self.matrix_statement(1)
        lines += ["end", "last = rand;"]
        if pick([True, False]):
            names = ", ".join(self.rng.sample("UVWBAursT", self.rng.randint(1, 4)))
            lines = [
                f"[{names}] = f();",
                "last = rand;",
                f"function [{names}] = f()",
                *lines,
                "end",
            ]
        return "\n".join(lines) + "\n"

    def matrix(self, depth):
        pick = self.rng.choice
        if depth <= 0 or self.rng.random() < 0.2:
            return pick(["U", "V", "W", "U", "V", "T", "B", "U(:, 1:p)", "V(1:end, :)"])

        def a():
            return self.matrix(depth - 1)

        return pick(
            [
                lambda: f"({a()} {pick(['+', '-', '.*', './'])} {a()})",
                lambda: f"({a()} {pick(['+', '-', '.*'])} {pick(['u', 'r', 'w', 'r*2'])})",
                lambda: f"({pick(['u', 'r', 'v'])} {pick(['+', '-', './'])} {a()})",
                lambda: f"({self.scalar()} {pick(['+', '-', '*', '.*', './'])} {a()})",
                lambda: f"({a()} {pick(['+', '-', '*', '/'])} {self.scalar()})",
                lambda: f"{pick(['abs', 'floor', 'exp', 'sin', 'sqrt', 'double'])}({a()})",
                lambda: f"{pick(['max', 'min'])}({a()}, {pick([a(), self.scalar(), 'r'])})",
                lambda: f"-{a()}",
                lambda: (
                    f"({a()} {pick(['+', '-'])} {pick(['max', 'min'])}({a()}, [], {pick('12')}))"
                ),
                lambda: f"({a()}).^{pick(['2', '3', '0.5'])}",
                lambda: f"({a()} {pick(['<', '>=', '=='])} {pick([a(), self.scalar(), 'u'])})",
                lambda: f"circshift({pick('UVT')}, {pick(['[1 0]', '[-1 k]', '[0 2]', '-1, 2'])})",
                lambda: f"({pick('UV')} + {pick(['repmat(r, n, 1)', 'repmat(u, 1, p)'])})",
            ]
        )()

    def scalar(self):
        return self.rng.choice(
            ["s", "k", "2", "0.1", "b", "U(1, 2)", "V(end, end)", "numel(V)", "r(2)", "sum(U(:))"]
        )

    def matrix_statement(self, depth):
        pick = self.rng.choice
        inner = "(2:end-1, 2:end-1)", "(1:end-2, 2:end-1)", "(3:end, 2:end-1)", "(2:end-1, 1:end-2)"
        makers = [
            lambda: [f"{pick('UVT')} = {self.matrix(2)};"],
            lambda: [f"{pick('UV')} = {self.matrix(2)};"],
            lambda: [f"W = single({self.matrix(1)});"],
            lambda: [f"D = {self.matrix(1)};", f"{pick('UV')} = D + {self.scalar()};"],
            lambda: [f"B = {pick('UVT')} > {pick([self.scalar(), 'V', 'r'])};"],
            lambda: [
                f"{pick('UV')}{inner[0]} = {pick('UV')}{pick(inner)} - {pick('UV')}{pick(inner)};"
            ],
            lambda: [
                f"{pick('UV')}(:, {pick(['1:2', '2:end', ':'])}) = {pick(['U', 'V'])}(:, 1:2);"
            ],
            lambda: [
                f"{pick('UV')}({pick(['k', '1', 'end'])}, :) = {pick(['r', 's', 'U(1, :)'])};"
            ],
            lambda: [f"{pick('UVT')}(B) = {pick(['0', 's', 'U(B)*2', 'V(B) + 1', 'k'])};"],
            lambda: [f"{pick('UV')}({pick('UV')} > {self.scalar()}) = {self.scalar()};"],
            lambda: [
                f"r = {pick(['sum(U)', 'sum(V, 1)', 'mean(U)', 'r + U(1, :)', 'mean(V, 1)'])};"
            ],
            lambda: [f"u = {pick(['sum(U, 2)', 'A*u', 'mean(V, 2)', 'U*r', 'V(:, 1)'])};"],
            lambda: [f"A = {pick(['A*A', 'A*0.5', 'A + 1'])}; A = A/{pick(['norm(A, 1)', '3'])};"],
            lambda: [f"U = {pick(['A', 'A' + chr(39)])}*{pick('UV')}/9;"],
            lambda: [
                f"A = {pick(['A*A', 'U*V', 'U*U', 'V*T'])}'/9 - {pick(['eye(n)', 'zeros(n)'])};"
            ],
            lambda: [f"u = A'*u + ones(n, 1); s = (u'*u)/{pick('789')}0;"],
            lambda: [f"V = {pick(['ones(n, p)', 'zeros(n, p)', 'zeros(p, n)'])} + {pick('UV')}*s;"],
            lambda: [
                f"s = {pick(['norm(U(:))', 'max(abs(V(:)))', 'sum(U(:) - V(:))', 'U(2, 1)'])}*0.5;"
            ],
            lambda: [f"{pick('UV')}(:) = {pick(['V(:)*2', 'k', 'U(:) + 1'])};"],
            lambda: ["T = U;", f"U{inner[0]} = {self.scalar()};"],
            lambda: [
                "T = 2*U - V;",
                f"T{inner[0]} = T{inner[0]} + U{pick(inner)};",
                "V = U; U = T;",
            ],
        ]
        if depth:
            makers.append(
                lambda: [
                    f"if {self.scalar()} > {pick(['1', 's'])}",
                    *self.matrix_statement(0),
                    "end",
                ]
            )
        return pick(makers)()
