"""Which category declares which builtin, so that only the categories in use are loaded."""

from __future__ import annotations

from collections.abc import Mapping

CATEGORIES: Mapping[str, str] = {
    "binary_files": "fread fwrite",
    "binning": "accumarray hist histc histcounts",
    "bits": "bitand bitcmp bitget bitor bitset bitshift bitxor swapbytes typecast",
    "callers": "assignin dbstack evalin functions import inputname onCleanup",
    "cells": "arrayfun cell cell2mat cellfun cellstr mat2cell num2cell structfun",
    "characters": "isletter isspace isstrprop strjust strvcat",
    "complex_numbers": "angle complex conj i imag j real",
    "coordinates": "cart2pol cart2sph pol2cart sph2cart",
    "creation": (
        "cast colon diag e eps eye false flintmax Inf inf intmax intmin linspace logspace "
        "magic meshgrid NaN nan ndgrid ones pi realmax realmin true zeros"
    ),
    "dates": "addtodate date datenum datestr datevec eomday etime now weekday",
    "delimited": "csvread csvwrite dlmread dlmwrite readmatrix writematrix",
    "devices": (
        "canUseGPU classUnderlying existsOnGPU gather gpuArray gpuArray.Inf gpuArray.NaN "
        "gpuArray.colon gpuArray.eye gpuArray.false gpuArray.inf gpuArray.linspace "
        "gpuArray.logspace gpuArray.nan gpuArray.ones gpuArray.rand gpuArray.randi "
        "gpuArray.randn gpuArray.randperm gpuArray.true gpuArray.zeros gpuDevice gpuDeviceCount "
        "isgpuarray isUnderlyingType underlyingType"
    ),
    "differential_equations": "deval ode23 ode45 odeget odeset",
    "elementwise": (
        "abs acos acosh and asin asinh atan atan2 atanh ceil cos cosh eq exp expm1 fix floor "
        "ge gt hypot isfinite isinf isnan le log log10 log1p log2 lt minus mldivide "
        "mpower mrdivide mtimes ne not nthroot or plus power rdivide round sign sin sinh "
        "sqrt tan tanh times uminus uplus xor"
    ),
    "errors": (
        "addCause assert error getReport lasterr lastwarn MException nargoutchk print_usage "
        "rethrow throw throwAsCaller warning"
    ),
    "files": "fileparts fullfile mfilename",
    "folders": (
        "cd copyfile delete dir filesep isdir isfile isfolder ls mkdir movefile pathsep pwd rmdir "
        "tempdir tempname"
    ),
    "graphics": (
        "area axes axis bar beep box caxis cla clc clf close colorbar colormap "
        "contour contourf drawnow errorbar figure gca gcf get grid histogram hold "
        "imagesc imshow legend line loglog mesh more patch pie plot plot3 print quiver "
        "saveas scatter semilogx semilogy set shading stem subplot surf title view xlabel "
        "xlim ylabel ylim zlabel zlim"
    ),
    "grids": "del2 gradient interp2",
    "groups": "discretize findgroups splitapply",
    "help": "help",
    "input_parser": (
        "addOptional addParamValue addParameter addRequired addSwitch inputParser parse"
    ),
    "integers": "factor factorial gcd idivide isprime lcm nchoosek nextpow2 perms primes",
    "json_text": "jsondecode jsonencode",
    "linear_algebra": (
        "bsxfun chol cond cross ctranspose det dot eig expm inv issymmetric linsolve lu norm "
        "null orth pinv qr rank rref svd toeplitz trace vecnorm"
    ),
    "mat_files": "load save",
    "matrix_gallery": "blkdiag compan hankel hilb pascal wilkinson",
    "matrix_functions": "hess logm qz schur sqrtm",
    "missing": "fillmissing ismissing rmmissing",
    "moving": "movmax movmean movmedian movmin movprod movstd movsum movvar",
    "number_bases": "base2dec bin2dec dec2base dec2bin dec2hex hex2dec",
    "objects": "isprop ismethod isvalid methods properties",
    "optimization": "fminbnd fminsearch fsolve fzero integral optimget optimset",
    "output": "disp display format fprintf int2str mat2str num2str sprintf",
    "piecewise": "mkpp pchip ppval spline unmkpp",
    "polynomials": "poly polyder polyfit polyint polyval roots vander",
    "programming": (
        "clear clearvars computer deal eval evalc exist feval func2str isargout "
        "isMATLABReleaseOlderThan isvarname nargin narginchk nargout str2func ver verLessThan "
        "version who"
    ),
    "quadrature": "dblquad integral2 integral3 quad quadgk quadl",
    "quantiles": "iqr prctile quantile",
    "random": "normrnd rand randi randn randperm rng",
    "rationals": "pow2 rat",
    "reductions": "all any cummax cummin cumprod cumsum max mean min prod sum",
    "regular_expressions": "regexp regexpi regexprep",
    "remainders": "mod rem",
    "scanning": "fscanf sscanf",
    "search": "addpath genpath path rehash rmpath run which",
    "searching": "find isequal isequaln issorted nonzeros sort sortrows",
    "sets": "intersect ismember setdiff setxor union unique",
    "shape": (
        "cat circshift flip fliplr flipud horzcat ind2sub ipermute iscolumn isempty ismatrix "
        "isrow isscalar isvector kron length ndims nnz numel permute repelem repmat reshape rot90 "
        "shiftdim size squeeze sub2ind transpose tril triu vertcat"
    ),
    "signals": (
        "conv conv2 deconv fft fft2 fftn fftshift filter ifft ifft2 ifftn ifftshift interp1 unwrap"
    ),
    "sparse_matrices": "full nzmax spalloc sparse spdiags speye spones",
    "special_functions": (
        "besseli besselj besselk bessely beta betaln erf erfc erfcinv erfcx erfinv gamma "
        "gammainc gammaln psi"
    ),
    "statistics": (
        "bounds corrcoef cov cumtrapz diff median mode normalize range rescale std trapz var zscore"
    ),
    "streams": ("fclose feof ferror fflush fgetl fgets fileread fopen frewind fseek ftell"),
    "structs": (
        "cell2struct containers.Map fieldnames getfield isfield isKey keys orderfields remove "
        "rmfield setfield struct struct2cell values"
    ),
    "system": (
        "exit getenv input isdeployed ismac ismcc ispc isstudent isunix keyboard quit setenv "
        "system unix unsetenv usejava"
    ),
    "table_files": "readtable writetable",
    "tables": (
        "addvars array2table cell2table groupsummary head height innerjoin istable removevars "
        "renamevars rowfun struct2table table table.join table.sortrows table2array table2cell "
        "table2struct tail varfun width"
    ),
    "text_parts": (
        "append compose convertCharsToStrings convertStringsToChars count erase eraseBetween "
        "extractAfter extractBefore extractBetween insertAfter insertBefore isStringScalar matches "
        "newline pad replace replaceBetween reverse splitlines strip"
    ),
    "texts": (
        "blanks contains deblank endsWith join lower split startsWith str2double str2num strcat "
        "strcmp strcmpi strfind strings strjoin strlength strncmp strncmpi strrep strsplit "
        "strtok strtrim upper"
    ),
    "textscan": "textscan",
    "times": (
        "NaT dateshift datetime day days duration hms hour hours isbetween isdatetime isduration "
        "isnat milliseconds minute minutes month posixtime second seconds timeofday year years ymd"
    ),
    "timing": "clock cputime pause tic toc",
    "trigonometry": (
        "acosd acot acoth acsc acsch asec asech asind atand cosd cot coth csc csch deg2rad "
        "rad2deg sec sech sind tand"
    ),
    "types": (
        "char class double int16 int32 int64 int8 is_function_handle isa iscell iscellstr ischar "
        "isfloat isinteger islogical isnumeric isobject isreal issparse isstring isstruct logical "
        "single string uint16 uint32 uint64 uint8"
    ),
    "validators": (
        "mustBeA mustBeFile mustBeFinite mustBeFolder mustBeGreaterThan "
        "mustBeGreaterThanOrEqual mustBeInRange mustBeInteger mustBeLessThan "
        "mustBeLessThanOrEqual mustBeMember mustBeNegative mustBeNonempty mustBeNonNan "
        "mustBeNonnegative mustBeNonpositive mustBeNonsparse mustBeNonzero "
        "mustBeNonzeroLengthText mustBeNumeric mustBeNumericOrLogical mustBePositive mustBeReal "
        "mustBeScalarOrEmpty mustBeText mustBeTextScalar mustBeUnderlyingType "
        "mustBeValidVariableName mustBeVector"
    ),
    "validation": "validateattributes validatestring",
}
"""Names by module of this package, in alphabetical order."""

MODULE_OF: Mapping[str, str] = {
    name: module for module, names in CATEGORIES.items() for name in names.split()
}
"""The module of a name."""
