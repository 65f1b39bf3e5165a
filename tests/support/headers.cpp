// A program of nothing. Its options are those of the headers that tests/CMakeLists.txt compiles
// ahead.
// SPDX-License-Identifier: MIT
