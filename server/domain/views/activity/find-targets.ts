import { and, inArray, isNull } from 'drizzle-orm';
import {
  apiTokens,
  attentionMarks,
  extensions,
  handlerVersions,
  models,
  publishers,
  rollouts,
  runbooks,
  users,
  vms,
} from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { StoredAct } from './columns.ts';
import type { Facts } from './facts.ts';

/** The targets of a page of entries: their names, and whether they still exist. */
export interface Targets {
  members: ReadonlySet<string>;
  vm(id: string): { name: string; isThere: boolean };
  target(row: StoredAct, facts: Facts): { name: string; isThere: boolean };
}

/** Looks up all targets of a page of entries, with one statement per kind. */
export async function findTargets({ db }: Context, rows: readonly StoredAct[]): Promise<Targets> {
  const found = await readTargets(db, rows);
  const vmById = new Map(found.vmRows.map((row) => [row.id, row]));
  const nameOfMember = new Map(found.userRows.map(({ id, name }) => [id, name]));
  const there = thereOf(found);
  const vm = (id: string) => {
    const row = vmById.get(id);
    return { name: row?.name ?? id, isThere: row !== undefined && row.deletedAt === null };
  };
  return {
    members: new Set(nameOfMember.keys()),
    vm,
    target(row, facts) {
      const { targetKind: kind, targetId: id, vmId } = row;
      if (kind === 'vm') return vm(id);
      if (kind === 'goal-state') return { name: id, isThere: vmId !== null && vm(vmId).isThere };
      if (kind === 'extension') {
        return { name: id, isThere: vmId !== null && vm(vmId).isThere && there.has(`extension ${vmId} ${id}`) };
      }
      const isThere = there.has(`${kind} ${id}`);
      if (kind === 'version') {
        const { handler, version } = versionOf(id);
        return { name: `${handler} ${version}`, isThere };
      }
      if (kind === 'member') return { name: nameOfMember.get(id) ?? String(facts.name ?? row.actorName), isThere };
      if (kind === 'publisher') return { name: id, isThere };
      return { name: String(facts.name ?? id), isThere };
    },
  };
}

/** Reads the objects that entries name, as far as they exist. */
async function readTargets(db: Context['db'], rows: readonly StoredAct[]) {
  const ids = (kind: string) => [...new Set(rows.filter((row) => row.targetKind === kind).map((row) => row.targetId))];
  const vmIds = [...new Set(rows.flatMap(({ vmId }) => vmId ?? []))];
  const people = [...ids('member'), ...rows.filter((row) => row.actorKind === 'user').map((row) => row.actorId)];
  const [
    vmRows,
    userRows,
    tokenRows,
    extensionRows,
    versionRows,
    publisherRows,
    problemRows,
    runbookRows,
    rolloutRows,
    modelRows,
  ] = await Promise.all([
    unlessEmpty(vmIds, (among) =>
      db.select({ id: vms.id, name: vms.name, deletedAt: vms.deletedAt }).from(vms).where(inArray(vms.id, among)),
    ),
    unlessEmpty([...new Set(people)], (among) =>
      db.select({ id: users.id, name: users.name }).from(users).where(inArray(users.id, among)),
    ),
    unlessEmpty(ids('token'), (among) =>
      db.select({ id: apiTokens.id }).from(apiTokens).where(inArray(apiTokens.id, among)),
    ),
    unlessEmpty(ids('extension'), (among) =>
      db
        .select({ vmId: extensions.vmId, name: extensions.name })
        .from(extensions)
        .where(and(inArray(extensions.vmId, vmIds), inArray(extensions.name, among))),
    ),
    unlessEmpty(
      ids('version').map((id) => versionOf(id).handler),
      (among) =>
        db
          .select({ handler: handlerVersions.handler, version: handlerVersions.version })
          .from(handlerVersions)
          .where(inArray(handlerVersions.handler, among)),
    ),
    unlessEmpty(ids('publisher'), (among) =>
      db.select({ namespace: publishers.namespace }).from(publishers).where(inArray(publishers.namespace, among)),
    ),
    // The mark of a problem is kept for some time after the problem is gone.
    unlessEmpty(ids('problem'), (among) =>
      db
        .select({ key: attentionMarks.key })
        .from(attentionMarks)
        .where(and(inArray(attentionMarks.key, among), isNull(attentionMarks.goneAt))),
    ),
    unlessEmpty(ids('runbook'), (among) =>
      db.select({ name: runbooks.name }).from(runbooks).where(inArray(runbooks.name, among)),
    ),
    unlessEmpty(ids('rollout'), (among) =>
      db.select({ id: rollouts.id }).from(rollouts).where(inArray(rollouts.id, among)),
    ),
    unlessEmpty(ids('model'), (among) =>
      db
        .select({ name: models.name })
        .from(models)
        .where(and(inArray(models.name, among), isNull(models.removedAt))),
    ),
  ]);
  return {
    vmRows,
    userRows,
    tokenRows,
    extensionRows,
    versionRows,
    publisherRows,
    problemRows,
    runbookRows,
    rolloutRows,
    modelRows,
  };
}

/** Returns the objects that exist, as kind and id. */
function thereOf(found: Awaited<ReturnType<typeof readTargets>>): ReadonlySet<string> {
  return new Set([
    ...found.userRows.map(({ id }) => `member ${id}`),
    ...found.tokenRows.map(({ id }) => `token ${id}`),
    ...found.extensionRows.map(({ vmId, name }) => `extension ${vmId} ${name}`),
    ...found.versionRows.map(({ handler, version }) => `version ${handler}-${version}`),
    ...found.publisherRows.map(({ namespace }) => `publisher ${namespace}`),
    ...found.problemRows.map(({ key }) => `problem ${key}`),
    ...found.runbookRows.map(({ name }) => `runbook ${name}`),
    ...found.rolloutRows.map(({ id }) => `rollout ${id}`),
    ...found.modelRows.map(({ name }) => `model ${name}`),
  ]);
}

/** Reads rows by these ids; sends no statement if there are no ids. */
const unlessEmpty = async <Row>(
  ids: readonly string[],
  read: (among: string[]) => PromiseLike<Row[]>,
): Promise<Row[]> => (ids.length > 0 ? read([...ids]) : []);

/** Splits the id of a version, `<handler>-<version>`. Handler names may contain hyphens; versions do not. */
export function versionOf(id: string): { handler: string; version: string } {
  const at = id.lastIndexOf('-');
  return { handler: id.slice(0, at), version: id.slice(at + 1) };
}
