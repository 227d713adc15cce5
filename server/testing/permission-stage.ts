import type { Role } from '#db/schema/auth.ts';
import { type Actor, hasRole, hasScripts } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { DomainError, statusOfKind } from '#server/domain/error.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { type Permission, permissions } from '#server/trpc/permissions.ts';
import { appRouter } from '#server/trpc/root.ts';
import { givenAgent } from './agent-door.ts';
import { testContext } from './context.ts';
import { givenVersion } from './handlers.ts';
import { type Caller, callers, hasGrant, openPortalDoors, type PortalDoors, roleOf } from './portal-doors.ts';

/** A caller; null for an anonymous one. */
export type Who = Caller | null;
export const whos: readonly Who[] = [null, ...callers];

/** All procedures of the pages, by path. */
export const procedures = Object.entries(
  appRouter._def.procedures as unknown as Record<string, { _def: { type: 'query' | 'mutation' | 'subscription' } }>,
).map(([path, { _def }]) => ({ path, type: _def.type }));
export const mutations = procedures.filter(({ type }) => type === 'mutation').map(({ path }) => path);
export const queries = procedures.filter(({ type }) => type === 'query').map(({ path }) => path);
/** The permission of each procedure. */
export const lines: Readonly<Record<string, Permission>> = permissions;

/** Error codes with which an entry point rejects a caller for lack of permission. */
const refusals = ['unauthenticated', 'forbidden', 'scripts_forbidden', 'namespace_forbidden', 'origin_refused'];
/** A row of a table of permissions. */
export type Line = Pick<Permission, 'role' | 'grant' | 'orGrant'>;

/** Returns what somebody with this role should get: `let in`, or a status and a code. */
export function expected({ role, grant, orGrant }: Line, who: Role | null, scripts = false): string {
  if (role === null) return 'let in';
  if (who === null) return '401 unauthenticated';
  const actor: Actor = { kind: 'user', id: '', name: '', role: who, namespaces: [], scripts };
  if (orGrant === 'scripts' && hasScripts(actor)) return 'let in';
  if (!hasRole(actor, role)) return '403 forbidden';
  return grant === undefined || hasScripts(actor) ? 'let in' : '403 scripts_forbidden';
}

/** Returns what a caller of the entry points should get. */
export const expectedFor = (line: Line, who: Who): string =>
  who === null ? expected(line, null) : expected(line, roleOf(who), hasGrant(who));

const verdict = (status: number, code: unknown): string =>
  refusals.includes(String(code)) || status === 401 || status === 403 ? `${status} ${code}` : 'let in';

/** Returns the differences between the expected and the actual results, one line per call. */
export async function differences(
  calls: readonly { name: string; want: string; got(): Promise<string> }[],
): Promise<string[]> {
  const found: string[] = [];
  for (const { name, want, got } of calls) {
    const is = await got();
    if (is !== want) found.push(`${name}: ${is} instead of ${want}`);
  }
  return found;
}

/** An answer of a procedure. */
export interface Shape {
  error?: { json: { data: { code: string; httpStatus: number } } };
}

/** The portal's own pages, as the origin of a request. */
export const ours = { origin: 'http://annex.test', 'sec-fetch-site': 'same-origin' };

/** Returns the body with which the pages' client sends an input. */
export const wrapped = (input: unknown) => JSON.stringify({ json: input });
/** Returns the headers of a call with this token; null for a call without one. */
export const asToken = (token: string | null): Record<string, string> =>
  token === null ? {} : { authorization: `Bearer ${token}` };

/** A portal with an enrolled agent, a deleted VM and drafts in two namespaces, which every caller can call. */
export interface PermissionStage {
  doors: PortalDoors;
  /** The credential of the agent of `agentVm`. */
  credential: string;
  agentVm: string;
  deletedVm: string;
  handlers: Record<'own' | 'foreign', { handler: string; version: string }>;
  cookieOf(who: Who): Record<string, string>;
  /** The headers of a page of this caller. */
  asMember(who: Who): Record<string, string>;
  post(path: string, headers: Record<string, string>, body: string): Promise<Response>;
  /** Calls a procedure as the pages' client does. Returns the verdict on the call. */
  ask(path: string, headers: Record<string, string>, input?: unknown): Promise<string>;
  /** Calls many procedures in one request. Returns the verdict on each call. */
  batch(paths: readonly string[], headers: Record<string, string>, isGet: boolean): Promise<string[]>;
  /** Returns the verdict on a response with this text. */
  verdictOn(response: Response): Promise<string>;
  /** Runs a verb with this role, without the entry point's checks. Returns the outcome. */
  verdictOf(role: Role | null, run: (ctx: Context) => Promise<unknown>): Promise<string>;
}

/** Opens a stage with a separate database. Close its `doors` at the end. */
export async function openPermissionStage(): Promise<PermissionStage> {
  const doors = await openPortalDoors();
  const { services } = doors;
  const admin = await testContext({ services });
  const { credential, vmId: agentVm } = await givenAgent(admin, { url: `${doors.url}/agent/v1` }, 'enrolled');
  const { id: deletedVm } = await registerVm(admin, { name: 'deleted' });
  await removeVm(admin, { vmId: deletedVm });
  const handlers = {
    own: await givenVersion(services.db, { handler: 'Acme.Lab.Probe', state: 'draft' }),
    foreign: await givenVersion(services.db, { handler: 'Other.Lab.Probe', state: 'draft' }),
  };
  const cookieOf = (who: Who): Record<string, string> => (who === null ? {} : { cookie: doors.cookies[who] });
  return {
    ...{ doors, credential, agentVm, deletedVm, handlers, cookieOf },
    post: (path, headers, body) => posted(doors, path, headers, body),
    asMember: (who) => ({ ...ours, ...cookieOf(who) }),
    ask: (path, headers, input = {}) => ask(doors, path, headers, input),
    batch: (paths, headers, isGet) => batch(doors, paths, headers, isGet),
    async verdictOn(response) {
      const text = await response.text();
      const code = response.status < 400 ? undefined : (JSON.parse(text) as { code: string }).code;
      return verdict(response.status, code);
    },
    async verdictOf(role, run) {
      const ctx = await testContext({ services, role, namespaces: ['Acme.Lab'] });
      try {
        await run({ ...ctx, session: async () => null, reader: {} } as Context);
        return 'let in';
      } catch (error) {
        return error instanceof DomainError ? verdict(statusOfKind[error.kind], error.code) : 'let in';
      }
    },
  };
}

const posted = (doors: PortalDoors, path: string, headers: Record<string, string>, body: string) =>
  doors.fetch(path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });

async function ask(doors: PortalDoors, path: string, headers: Record<string, string>, input: unknown): Promise<string> {
  const type = procedures.find((one) => one.path === path)?.type;
  if (type === 'subscription') return listen(doors, path, headers);
  const response =
    type === 'query'
      ? await doors.fetch(`/api/trpc/${path}?input=${encodeURIComponent(wrapped(input))}`, { headers })
      : await posted(doors, `/api/trpc/${path}`, headers, wrapped(input));
  const { error } = (await response.json()) as Shape;
  return verdict(response.status, error?.json.data.code);
}

async function batch(
  doors: PortalDoors,
  paths: readonly string[],
  headers: Record<string, string>,
  isGet: boolean,
): Promise<string[]> {
  const inputs = JSON.stringify(Object.fromEntries(paths.map((_, index) => [index, { json: {} }])));
  const url = `/api/trpc/${paths.join(',')}?batch=1`;
  const response = isGet
    ? await doors.fetch(`${url}&input=${encodeURIComponent(inputs)}`, { headers })
    : await posted(doors, url, headers, inputs);
  const answers = (await response.json()) as Shape[];
  return answers.map(({ error }) => {
    const { httpStatus = 200, code } = error?.json.data ?? {};
    return verdict(httpStatus, code);
  });
}

/** Reads a subscription's events until it starts or fails. Returns the verdict on the call. */
async function listen(doors: PortalDoors, path: string, headers: Record<string, string>): Promise<string> {
  const ended = new AbortController();
  const response = await doors.fetch(`/api/trpc/${path}`, { headers, signal: ended.signal });
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk);
    if (/"changes":|"httpStatus":/.test(text)) break;
  }
  ended.abort();
  const [, code] = /"code":"([a-z_]+)"/.exec(text) ?? [];
  return verdict(Number(/"httpStatus":(\d+)/.exec(text)?.[1] ?? response.status), code);
}
