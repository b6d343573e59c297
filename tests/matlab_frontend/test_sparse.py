"""Sparse matrices. Oracle: the same program with full ones."""

import re

import numpy as np
import pytest

from matlab_frontend.errors import MatlabError
from matlab_frontend.run import run_source
from matlab_frontend.session import Session
from matlab_frontend.source import Source

MATRICES = (
    ("[0 3.5 0;1 0 -2;-2 -2 2]", "[-2 0 0;-2 0 -2;-2 3.5 0]", "[2 -2 1;2 0 3.5;0 1 0]", "[1;0;1]"),
    ("[-2 2 0;-2 2 0;3.5 0 -2]", "[0 0 0;1 0 2;0 -2 1]", "[0 -2 3.5;2 0 0;2 2 1]", "[1;3;0]"),
)
EXPRESSIONS = r"""
A+B | A-B | A.*B | A*B | A'*B | A./3 | 2*A | A.^2 | A>1 | A>=0 | A==B | A~=B | ~A | A&B | A|B |
-A | A.*s | A*x | x'*A | A\x | A(2,:) | A(:,1) | A(2:3,[1 3]) | A(:) | A([1 5 9]) | A(A>1) |
A(end,end) | [A B] | [A;B] | [A;x'] | sum(A) | sum(A,2) | sum(A,'all') | diag(A) | diag(A,1) |
diag(x') | triu(A) | tril(A,-1) | kron(A,B) | kron(A,[1 2]) | reshape(A,1,[]) |
reshape(A,9,1) | abs(A) | sqrt(abs(A)) | max(A) | min(A,[],2) | any(A) | all(A,2) | mean(A) |
cumsum(A) | A+1 | 1-A | A.*F | F.*A | A+F | F-A | A./F | F./A | A>F | A*F | F*A | F\A | A/F |
A/2 | A^2 | A^3 | A^0 | norm(A,1) | norm(A,'fro') | norm(A,inf) | isequal(A,B) | isequal(A,A) |
nnz(A) | nonzeros(A) | find(A) | full(A) | numel(A) | size(A) | inv(A+10*speye(3)) | det(A) |
trace(A) | A(logical([1 0 1]),:) | A' | A.' | A(3) | A([]) | A(:,[]) | sin(A) | round(A) |
logical(A) | double(A>0) | repmat(A,1,2) | fliplr(A) | sort(A) | A*0 | A*Inf | A.*NaN | 0./A |
mod(A,2) | floor(A) | isnan(A) | length(A) | isempty(A) | A(1,:)*A(:,1) | x.*A | A(2,2)+1 |
A(1,1)>0 && true | A(:,2)' | horzcat(A,B) | vertcat(A,B) | cat(1,A,B) | issymmetric(A) | A==0 |
A<0 | xor(A,B) | min(A) | prod(A) | abs(-A) | A.^0 | 2.^A | A.^-1 | A.\2 | max(A,0) |
max(A,B) | min(A,1) | A-A | sum(A>0) | sum(sum(A)) | transpose(A) | circshift(A,1) | rot90(A) |
A(end) | norm(x) | expm(A) | dot(A(:,1),A(:,2))
"""
ASSIGNMENTS = """
A(2,2)=7; | A(2,:)=0; | A(:,1)=x; | A(4,5)=1; | A([1 2],[1 3])=[1 2;3 4]; | A(A>0)=5; |
A(2)=9; | A(:,2)=[]; | A([1 3],:)=[]; | A(:)=0; | A(1,:)=B(2,:); | A(2:3,2:3)=A(1:2,1:2); |
F(1,:)=A(2,:); A=F; | A([1 2])=[5 6]; | A(1,1)=A(1,1)+1;
"""


def parts(text):
    """What stands between bars that end with a blank or a line."""
    return [part.strip() for part in re.split(r" \|(?=\s)", text) if part.strip()]


def result(text):
    """What a program leaves in ``r``, or the identifier of its error."""
    try:
        found = run_source(Source(text), {}, Session(write=lambda _: None))["r"]
    except MatlabError as error:
        return error.identifier
    return np.atleast_2d(found.toarray() if hasattr(found, "toarray") else found)


def check(text):
    for a, b, f, x in MATRICES:
        before = f"F = {f}; x = {x}; s = 2; "
        full = result(f"A = {a}; B = {b}; {before}{text}")
        sparse = result(f"A = sparse({a}); B = sparse({b}); {before}{text}")
        if isinstance(full, str):
            assert sparse == full
        else:
            np.testing.assert_allclose(sparse, full, rtol=1e-9, atol=1e-9)
            assert sparse.shape == full.shape


@pytest.mark.sampled(2)
@pytest.mark.parametrize("expression", parts(EXPRESSIONS))
def test_an_expression_has_the_values_of_full_matrices(expression):
    check(f"r = {expression};")


@pytest.mark.parametrize("statement", parts(ASSIGNMENTS))
def test_an_assignment_stores_what_it_stores_in_full_matrices(statement):
    check(f"{statement} r = A;")


def test_what_shares_places_with_another_matrix_leaves_it_alone():
    found = result("A = sparse([1 2 2], [1 2 1], [3 4 0.5]); B = A > 1; r = A;")
    assert found.tolist() == [[3, 0], [0.5, 4]]


def test_large_systems_are_solved_without_full_matrices():
    text = """
        n = 200; e = ones(n, 1); T = spdiags([-e 2*e -e], -1:1, n, n); I = speye(n);
        A = kron(I, T) + kron(T, I); b = ones(n^2, 1);
        r = norm(A*(A\\b) - b, Inf) < 1e-8 && nnz(A > 3) == n^2 && isequal(A, A');"""
    assert result(text).item()
