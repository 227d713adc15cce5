import type { TranscriptRow } from '../../e2e/support/plan-machine.ts';

/** The text of a file of the runbook. */
const file = (Name: string, lines: readonly string[]) => ({ Name, BodyType: 'Text', Body: `${lines.join('\n')}\n` });

/** A plan with a Body that handles a failure, scripts of two types, and options. */
export const certificatesPlan = {
  FormatVersion: '2.3.0',
  Name: 'Rotate certificates',
  Service: 'web',
  Body: [
    'folder = args.folder',
    'due = [c for c in certs.inventory(folder) if args.force or c["daysLeft"] < args.within]',
    'if not due:',
    '    return {"renewed": []}',
    'api.logInfo("Renewing " + ", ".join(c["name"] for c in due))',
    'order = certs.issue([c["name"] for c in due], token=args.dnsToken)',
    'try:',
    '    install.apply(folder, order["path"])',
    'except ScriptError as failure:',
    '    api.logWarning("Restoring the old certificates")',
    '    raise RuntimeError("Installation failed. The old certificates are back in place.") from failure',
    'return {"renewed": [c["name"] for c in due], "expires": order["expires"]}',
  ].join('\n'),
  Scripts: {
    certs: { Type: 'Python', EntryPoint: 'certs.py', Files: ['authority.pem'] },
    install: {
      Type: 'Bash',
      Version: '4.4',
      EntryPoint: 'install.sh',
      Files: [],
      Options: { timeout: 300, environment: { NGINX_BIN: '/usr/sbin/nginx' } },
    },
  },
  Files: {
    'certs.py': file('certs.py', [
      'def inventory(folder):',
      '    """Lists the certificates in a folder."""',
      '    return [read(path) for path in paths(folder)]',
      '',
      'def issue(names, token=None):',
      '    return order(names, token)',
    ]),
    'authority.pem': file('authority.pem', ['-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----']),
    'install.sh': file('install.sh', [
      '#!/usr/bin/env bash',
      '# Installs certificates for nginx and reloads it.',
      'set -euo pipefail',
      '',
      'apply() {',
      '  local next="$1/$(date +%F)"',
      '  for site in "$2"/*/; do stage "$site" "$next/$(basename "$site")"; done',
      '  ln -sfn "$next" /etc/nginx/tls/current',
      '  "$NGINX_BIN" -t || exit 3',
      '  systemctl reload nginx',
      '}',
    ]),
  },
};

/** Parameters of every kind that a form can show, one of them secret. */
export const certificatesParameters = {
  type: 'object',
  properties: {
    folder: { type: 'string', title: 'Certificate folder', default: '/etc/nginx/tls' },
    within: { type: 'integer', title: 'Renew if it expires within (days)', minimum: 1, maximum: 89, default: 30 },
    authority: { title: 'Certificate authority', enum: ['production', 'staging'], default: 'production' },
    force: { type: 'boolean', title: 'Renew even if nothing is due', default: false },
    dnsToken: { type: 'string', title: 'Token of the DNS API', description: 'Zone edit rights.', writeOnly: true },
  },
  required: ['folder', 'within', 'dnsToken'],
  additionalProperties: false,
};

export const certificatesArguments = { folder: '/etc/nginx/tls', within: 30, authority: 'production', force: false };

const bold = (text: string) => `\u001b[1m${text}\u001b[0m`;
const green = (text: string) => `\u001b[32m${text}\u001b[0m`;

/** The rows of an execution until its third call has begun. */
export const begunRows: readonly TranscriptRow[] = [
  [0, 'begin', { run: 1, why: 'first' }],
  [9, 'call', 1, 'certs', 'inventory'],
  ...Array.from({ length: 8 }, (_, n) => [20 + n, 'out', 1, `site-${n + 1}.example.net  ${12 + n * 9} days`] as const),
  [400, 'end', 1, { exitCode: 0, ms: 391 }],
  [410, 'log', { Level: 'info', Body: 'Renewing site-1.example.net, site-2.example.net' }],
  [415, 'call', 2, 'certs', 'issue'],
  ...Array.from({ length: 30 }, (_, n) => [500 + n * 40, 'out', 2, `challenge ${n + 1} of 30: pending`] as const),
  [1800, 'end', 2, { exitCode: 0, ms: 1385 }],
  [1805, 'call', 3, 'install', 'apply'],
  [1900, 'out', 3, bold('Installing 2 certificates into /etc/nginx/tls/2026-11-22')],
  [1950, 'out', 3, `  fullchain.pem   3,841 bytes  0644 root:root  ${green('staged')}`],
  [1990, 'out', 3, `  privkey.pem       241 bytes  0600 root:root  ${green('staged')}`],
  [
    2010,
    'err',
    3,
    'nginx: [warn] "ssl_stapling" ignored, no OCSP responder URL in the certificate "/etc/nginx/tls/2026-11-22/site-1.example.net/fullchain.pem"',
  ],
];

/** Rows of the third call. */
export const workerRows = (from: number, to: number): TranscriptRow[] =>
  Array.from(
    { length: to - from },
    (_, n) =>
      [2100 + (from + n) * 4, 'out', 3, `  worker ${48_000 + from + n}  ${green('ready')}  0.3${n % 10} s`] as const,
  );

export const failedRows: readonly TranscriptRow[] = [
  [
    40_000,
    'err',
    3,
    '\u001b[31mnginx: [emerg] SSL_CTX_use_PrivateKey("privkey.pem") failed (key values mismatch)\u001b[0m',
  ],
  [40_010, 'err', 3, 'nginx: configuration file /etc/nginx/nginx.conf test failed'],
  [40_020, 'end', 3, { exitCode: 3, ms: 38_215 }],
  [40_025, 'log', { Level: 'warning', Body: 'Restoring the old certificates' }],
  [40_030, 'done', 1],
];

/** The calls of an execution, with the state of the third. */
export const callsOf = (third: object): object[] => [
  {
    n: 1,
    script: 'certs',
    function: 'inventory',
    state: 'succeeded',
    row: 1,
    untilRow: 10,
    atMs: 9,
    tookMs: 391,
    exitCode: 0,
  },
  {
    n: 2,
    script: 'certs',
    function: 'issue',
    state: 'succeeded',
    row: 12,
    untilRow: 43,
    atMs: 415,
    tookMs: 1385,
    exitCode: 0,
  },
  { n: 3, script: 'install', function: 'apply', row: 44, atMs: 1805, ...third },
];

/** The result of an execution whose third call failed. */
export const failure = {
  Message: 'Installation failed. The old certificates are back in place.',
  Type: 'RuntimeError',
  AdditionalInfo: null,
  Stack: ['<plan>:11 in Body: raise RuntimeError("Installation failed. The old certificates are back in place.")'],
  Causes: [
    {
      Message: 'install.apply ended with exit code 3',
      Type: 'ScriptError',
      AdditionalInfo: { script: 'install', function: 'apply', exitCode: 3, stderr: 'configuration file test failed' },
      Stack: ['<plan>:8 in Body: install.apply(folder, order["path"])'],
      Causes: [],
    },
  ],
};
