#!/usr/bin/env bats
# Native code, cluster and compiler at work for long: what the verb refuses and says.

load common

soak() { run "$TOP/build.sh" soak "$@"; }

@test "what is no soak, variant, release, emulator or number is misuse" {
    soak nothing
    ends 2 "there is no soak 'nothing'; choose from: drivers nif cluster compiler"
    soak --vm nobody
    ends 2 "there is no variant 'nobody'; choose from: stock "
    soak --otp 24
    ends 2 "'24' is not supported"
    soak --emulator fast
    ends 2 "choose opt, debug or asan"
    soak --seconds 0
    ends 2 "--seconds wants a number"
    soak --seconds
    ends 2 ""
}

@test "each works for a second, and says what it did and how memory grew" {
    soak --vm tuned --seconds 1
    ends 0 " writes, "
    ends 0 " walks, "
    ends 0 " terms came back, "
    ends 0 " bytes a call ("
    ends 0 " modules compile to the same code"
}
