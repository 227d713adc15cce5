import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Role, roles } from '#db/schema/auth.ts';
import { routes } from '#server/rest/routes/index.ts';
import { permissions, type Reach } from '#server/trpc/permissions.ts';
import { appRouter } from '#server/trpc/root.ts';
import { readFlags } from './read-flags.ts';

const usage = `Writes docs/permissions.md from the tables in the code.

  npm run permissions [-- --check]
      --check: writes nothing, and ends with 1 where the page is stale`;

const file = path.resolve(import.meta.dirname, '../docs/permissions.md');

const reaches: Readonly<Record<Reach, string>> = {
  any: '',
  namespace: 'own namespaces',
  own: 'own only',
  visible: 'acts on VMs and handlers, and one’s own',
};

/** Roles that may make a call, by the rule that operator and publisher include viewer, and admin all. */
const includes: Readonly<Record<Role, readonly Role[]>> = {
  viewer: ['viewer', 'operator', 'publisher', 'admin'],
  operator: ['operator', 'admin'],
  publisher: ['publisher', 'admin'],
  admin: ['admin'],
};

function row(name: string, kind: string, role: Role | null, reach: string): string {
  const marks = roles.map((one) => (role === null || includes[role].includes(one) ? 'yes' : ''));
  return `| ${name} | ${kind} | ${role === null ? 'yes' : ''} | ${marks.join(' | ')} | ${reach} |`;
}

const head = (first: string, kind: string): string[] => [
  `| ${first} | ${kind} | nobody | ${roles.join(' | ')} | on which |`,
  '| --- | --- | --- | --- | --- | --- | --- | --- |',
];

const types = appRouter._def.procedures as unknown as Record<string, { _def: { type: string } }>;

/** The page as the tables in the code have it. */
function page(): string {
  const procedures = Object.entries(permissions).map(([name, { role, reach }]) =>
    row(`\`${name}\``, types[name]?._def.type ?? '', role, reaches[reach]),
  );
  const calls = routes.map(({ operationId, method, path: at, role, inNamespace }) =>
    row(`\`${operationId}\``, `${method} \`${at}\``, role, inNamespace === true ? reaches.namespace : ''),
  );
  return [
    '# Who may do what',
    '',
    'Printed by `npm run permissions` from `server/trpc/permissions.ts` and from the routes in `server/rest/routes`; `npm run verify` fails if it is stale, and `server/portal/permissions.test.ts` tests every line against the running doors, including objects of others and batches.',
    '',
    'Operator and publisher include viewer, admin includes all. Publishers act in their own namespaces only, admins in all. A rejected call is 401 without a sign-in and 403 without the role, and changes nothing. The verbs check roles and objects again.',
    '',
    '## Pages',
    'Called with the session’s cookie. Mutations need a page of the portal as their origin, and a POST. API tokens are not accepted. A person who must first set up a second factor can only call procedures of `account`.',
    '',
    ...head('procedure', 'kind'),
    ...procedures,
    '',
    '## `/api/v1`',
    'Called with an API token of a role. Cookies are not accepted.',
    '',
    ...head('operation', 'call'),
    ...calls,
    '',
    '## Other doors',
    '| door | who |',
    '| --- | --- |',
    '| `/api/auth/*` | everyone: signing in and out. A change of the password needs a session |',
    '| `/upload/*` | the calls that take packages and language files, with the session’s cookie, by the same roles and namespaces |',
    '| `/download/activity.csv`, `/download/vms.csv`, and as `.jsonl` | every session, from a page of the portal; what the page shows to the same reader, and the download of VMs is an act in the activity |',
    '| `/agent/v1/*` | the agent of one VM, by its credential, about that VM only; `enroll` by a one-time token |',
    '| `/healthz`, `/readyz`, `/api/v1/openapi.json`, `/.well-known/security.txt`, and the files in `public/` | everyone |',
    '',
    '## Existing protected settings and new keys',
    'Operators enrol machines, and that alone gives them no protected settings of others. For a new key an existing secret is sealed only where the previous key asked for it (`PUT /agent/v1/certificate`), where the issuer of the enrolment token or wire access entered it last, or where that issuer is an admin when it is sealed. Everything else is withheld (`needsRelease`) until an admin releases it (`releaseSecrets`) or someone enters it again. Each token of wire access comes with a new tenant key, also for the same issuer.',
    '',
    'Members are compared, so an API token acts for the member who created it, whatever its role:',
    '',
    '- What any of a member’s tokens entered counts as entered by that member, and so by all of their other tokens.',
    '- An enrolment token that any of them issues delivers what that member entered last. A pipeline with an operator token that an admin created can enrol a key of its own and read what that admin entered, by hand or by another token. It does not read what others entered: a token counts as an admin only if both it and its member are admins.',
    '- Tokens that a token creates belong to the same member.',
    '',
    'Pipelines that must not read each other’s or an admin’s secrets therefore need tokens of different members. Create one member with the role of operator for each, sign in as it, and create the token there. The bootstrap token is an actor of its own and an admin; each token that it creates stands alone, so it may serve for that, too.',
    '',
    '## The activity',
    'Acts on VMs, their extensions, handlers, versions and publishers are told to everyone who is signed in; what was before and after on VMs, which holds settings, to operators. Acts on people, tokens and invitations are told to admins, and to who did them. The address that an act came from is told to admins, and to who did it.',
    '',
  ].join('\n');
}

const values = readFlags(usage, { options: { check: { type: 'boolean', default: false } } });
if (!values.check) writeFileSync(file, page());
else if (readFileSync(file, 'utf8') !== page()) {
  console.log('docs/permissions.md is not what the tables in the code say: npm run permissions');
  process.exitCode = 1;
}
