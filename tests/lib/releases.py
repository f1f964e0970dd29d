"""Finds numbers of releases of OTP that are written elsewhere than in otp_patches/releases.

Comments may name a release: they tell what was seen on it. A bare number is mostly something else (seconds, a bound), so
what is looked at is what is written as a release is.
"""
import re
import subprocess
import sys

SHELL = re.compile(r'^(build\.sh|ertslab|Dockerfile|\.ci/.*|scripts/.*|bench/(run|build|.*\.bash)|otp_patches/(check|.*\.sh)'
                   r'|tests/[^/]*\.bats|tests/lib/.*\.bash|tests/field/(run|lib/.*|[^/]*/(start|expected)))$')
ERLANG = re.compile(r'^erl_src/.*\.(erl|hrl|src|config)$')

# FILE, TEXT, REASON
ALLOWED = [
    (r'^erl_src/(dam/)?rebar\.config$', r'minimum_otp_vsn', 'what the code needs came with that release'),
    (r'/diagnose_mailboxes\.erl$', r'\bdam\b', 'what dam needs came with that release'),
    (r'/rabbitmq_server\.erl$', r'define\(NEWEST_RELEASE', 'the newest that this RabbitMQ starts on'),
    (r'/diagnose_figures\.erl$', r'', 'the release that a kept figure was measured on'),
    (r'/ertslab_call\.erl$', r'release \(stock@', 'an example in a help text'),
    (r'/test/(.*/)?(ertslab_builds|ertslab_errors|ertslab_inventory|ertslab_proofs|ertslab_profile|ertslab_report|ertslab_report_html|diagnose_rules|mailbox_audit_input|otp_tests)_SUITE\.erl$', r'', 'facts that are made up'),
]


def patterns(releases):
    number = '(%s)' % '|'.join(releases)
    return [(SHELL, re.compile(r'(^|\s)#.*'), re.compile(
                r'((?<![a-z])(otp|OTP)[-_ =]|@|\$1 == |\b(compiled|node|release) |\brelease in .*)%s\b|\b%s\.current|\b%s[ |,]+%s\b'
                % (number, number, number, number))),
            (ERLANG, re.compile(r'%.*'), re.compile(
                r'(otp-|OTP |@|-?otp |release *(=>|:=|=|=:=|==) *|_RELEASE, *|otp_vsn, *"|_on_)%s\b' % number))]


def literals(path, text, releases):
    for files, comment, literal in patterns(releases):
        if files.search(path):
            for number, line in enumerate(text.splitlines(), 1):
                if literal.search(comment.sub('', line)):
                    yield number, line


def allowed(path, line):
    return [rule for rule in ALLOWED if re.search(rule[0], path) and re.search(rule[1], line)]


def main(releases):
    faults = []
    needed = set()
    for path in subprocess.check_output(['git', 'ls-files', '-co', '--exclude-standard'], text=True).splitlines():
        if not (SHELL.search(path) or ERLANG.search(path)):
            continue
        with open(path, encoding='utf-8') as file:
            text = file.read()
        faults += ['%s:%d: %s' % (path, number, line.strip())
                   for number, line in literals(path, text, releases) if not allowed(path, line)]
        # Matches any release number, so exceptions stay valid when a release is dropped.
        for _, line in literals(path, text, [r'\d\d']):
            needed.update(allowed(path, line))
    faults += ['%s: this exception is needed no more (%s)' % (rule[0], rule[2]) for rule in ALLOWED if rule not in needed]
    print('\n'.join(faults))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
