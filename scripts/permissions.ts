import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Role, roles } from '#db/schema/auth.ts';
import { routes } from '#server/rest/routes/index.ts';
import { type Permission, permissions, type Reach } from '#server/trpc/permissions.ts';
import { appRouter } from '#server/trpc/root.ts';
import { readFlags } from './read-flags.ts';

const usage = `Writes docs/permissions.md from the tables in the code.

  npm run permissions [-- --check]
      --check: writes nothing, and exits with 1 if the page is stale`;

const file = path.resolve(import.meta.dirname, '../docs/permissions.md');

const reaches: Readonly<Record<Reach, string>> = {
  any: '',
  namespace: 'only in own namespaces',
  own: 'only the caller’s own objects',
  others: 'others’ only',
  visible: 'only entries about VMs, handlers and other shared objects, and the caller’s own entries',
};

/** For each role, the roles that include it: operator and publisher include viewer, admin includes all. */
const includes: Readonly<Record<Role, readonly Role[]>> = {
  viewer: ['viewer', 'operator', 'publisher', 'admin'],
  operator: ['operator', 'admin'],
  publisher: ['publisher', 'admin'],
  admin: ['admin'],
};

/** Returns the last column: how grants change who may make the call, and the objects to which the call is limited. */
const also = (reach: string, { grant, orGrant }: Pick<Permission, 'grant' | 'orGrant'>): string =>
  [
    ...(grant === undefined ? [] : [`only with the grant \`${grant}\`, which admins do not need`]),
    ...(orGrant === undefined ? [] : [`also with only the grant \`${orGrant}\``]),
    ...(reach === '' ? [] : [reach]),
  ].join(', ');

/** Renders the row of a call. Viewers cannot have a grant. */
function row(name: string, kind: string, { role, grant, orGrant }: Omit<Permission, 'reach'>, reach: string): string {
  const mayCall = (one: Role) => (role === null || includes[role].includes(one)) && !(grant && one === 'viewer');
  const marks = roles.map((one) => (mayCall(one) ? 'yes' : ''));
  return `| ${name} | ${kind} | ${role === null ? 'yes' : ''} | ${marks.join(' | ')} | ${also(reach, { grant, orGrant })} |`;
}

const head = (first: string, kind: string): string[] => [
  `| ${first} | ${kind} | signed out | ${roles.join(' | ')} | conditions |`,
  '| --- | --- | --- | --- | --- | --- | --- | --- |',
];

const types = appRouter._def.procedures as unknown as Record<string, { _def: { type: string } }>;

const lines: Readonly<Record<string, Permission>> = permissions;

/** Renders the page from the tables in the code. */
function page(): string {
  const procedures = Object.entries(lines).map(([name, line]) =>
    row(`\`${name}\``, types[name]?._def.type ?? '', line, reaches[line.reach]),
  );
  const calls = routes.map((route) => {
    const reach = route.inNamespace === true ? reaches.namespace : '';
    return row(`\`${route.operationId}\``, `${route.method} \`${route.path}\``, route, reach);
  });
  return [
    '# Who may do what',
    '',
    '`npm run permissions` generates this page from `server/trpc/permissions.ts` and from the routes in `server/rest/routes`; `npm run verify` fails if the page is stale. `server/trpc/permissions.test.ts` and `server/rest/permissions.test.ts` test every row of the tables against a running portal, including batched calls; `server/portal/other-users.test.ts` tests calls for other people’s objects.',
    '',
    'The roles operator and publisher include viewer; admin includes all other roles. Publishers can act only in their own namespaces; admins can act in all namespaces. A call without a sign-in gets 401, and a call without the required role gets 403; neither call changes anything. The domain layer (`server/domain`) checks roles and objects again.',
    '',
    'The grant `scripts` is a right that a caller can have in addition to a role. Admins give the grant to operators and publishers, and to API tokens with these roles. Only admins and callers with the grant may write runbooks. Only admins, and operators with the grant, may run any execution plan. Operators without the grant may check plans and run published runbooks. Publishers may check plans only with the grant. Viewers cannot have the grant. If a member becomes a viewer or an admin, the grant is removed.',
    '',
    '## Pages',
    'Procedures are called with the session cookie; API tokens are not accepted. Mutations require POST and the portal’s origin. A person who must first set up a second factor can call only the procedures of `account` and the procedures that need no sign-in.',
    '',
    ...head('procedure', 'kind'),
    ...procedures,
    '',
    '## `/api/v1`',
    'Operations are called with an API token, which has a role. Cookies are not accepted.',
    '',
    ...head('operation', 'call'),
    ...calls,
    '',
    '## Other entry points',
    '| entry point | who may call it |',
    '| --- | --- |',
    '| `/api/auth/*` | everyone, to sign in and out; changing the password needs a session |',
    '| `/upload/*` | publishers in their own namespaces, and admins, to upload packages and resource files with the session cookie |',
    '| `/download/activity.csv`, `/download/vms.csv`, and both as `.jsonl` | everyone who is signed in, from a page of the portal, and every API token. The files contain the same data as the page or `/api/v1`. The activity log records downloads of the list of VMs |',
    '| `/download/vms/{id}/outputs/{output}`, `/download/vms/{id}/log-archives/{archive}` | operators and admins, from a page of the portal or with an API token |',
    '| `/agent/v1/*` | the agent of a VM, with its credential, and only for that VM; for `enroll`, a machine with a one-time token |',
    '| `/wire/{vmId}/*`, `/hgap/{vmId}/*` | the forwarder of that VM’s stock agent, with its token; only with `ANNEX_WIRE=on` |',
    '| `/install`, `/install/*` | everyone; these paths serve the installer, the guest agent, Node and their checksums, none of which contains a secret |',
    '| `/healthz`, `/readyz`, `/api/v1/openapi.json`, `/.well-known/security.txt`, and the files in `public/` | everyone |',
    '',
    '## Existing protected settings and new keys',
    'Operators can enroll machines, but this does not give them the protected settings that other people entered. An existing secret is encrypted for a new key only in these cases:',
    '',
    '- The secret was encrypted for the previous key, and the previous key signed the new key (`PUT /agent/v1/certificate`).',
    '- The secret was encrypted for the previous key, and an operator replaced a stock agent’s tenant key.',
    '- The issuer of the enrollment token or forwarder token was the last to enter the secret.',
    '- The issuer of the enrollment token or forwarder token is an admin when the secret is encrypted.',
    '',
    'All other secrets are withheld (`needsRelease`) until an admin releases them (`releaseSecrets`) or someone enters them again. If several people entered parts of a secret, none of them counts as the person who entered it. While a secret is withheld, its settings cannot be changed individually. Each forwarder token comes with a new tenant key, even for the same issuer.',
    '',
    'The protected settings of a service follow the same rules for the machine of each unit ([services.md](services.md#settings-and-upgrades)): the issuer of the enrollment token must have entered them, or have been an admin when the machine enrolled. Other units wait until an admin releases the settings to their machines (`releaseUnitSecrets`, `releaseServiceSecrets`). A release holds until another machine enrolls.',
    '',
    'For these rules, an API token counts as the member who created it, regardless of the token’s role:',
    '',
    '- A secret that was entered with a member’s token counts as entered by the member and by all other tokens of the member.',
    '- If an enrollment token is created with a member’s token, the enrolled key gets the secrets that the member was the last to enter. If an admin creates an operator token for a pipeline, the pipeline can therefore enroll its own key and read the secrets that this admin entered on the pages or with another token. The pipeline cannot read secrets that other people entered, because a token counts as an admin only if both the token and its member have the role admin.',
    '- A token that is created with another token belongs to the same member.',
    '',
    'If pipelines must not read each other’s or an admin’s secrets, create their tokens with the bootstrap token. The bootstrap token belongs to no member, and each token that is created with it counts as a separate actor.',
    '',
    '## Activity log',
    'Everyone who is signed in sees the entries about VMs, extensions, executions, runbooks, handlers, versions, publishers and problems. Operators also see the values before and after a change to a VM, which include public settings. Entries about people, tokens and invitations, and the address from which an action came, are visible only to admins and to the person who acted.',
    '',
  ].join('\n');
}

const values = readFlags(usage, { options: { check: { type: 'boolean', default: false } } });
if (!values.check) writeFileSync(file, page());
else if (readFileSync(file, 'utf8') !== page()) {
  console.log('docs/permissions.md does not match the tables in the code. Run npm run permissions.');
  process.exitCode = 1;
}
