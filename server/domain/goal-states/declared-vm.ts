import { and, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agents, extensionSequences, extensions, handlerVersions, secrets } from '#db/schema/index.ts';
import { versionKey } from '#protocol/index.ts';
import type { Fault } from '#server/domain/error.ts';
import { type HandlerVersionRow, isHandlerVersion, type VersionRow } from '#server/domain/packages/index.ts';
import type { SecretRow } from './custody.ts';
import { unprocessable } from './declare.ts';
import { ofVms } from './of-vms.ts';
import type { ExtensionRow, LiveHead } from './publish.ts';

/** The properties of a VM's agent that decide what can be declared; null if no machine is enrolled. */
export type AgentMachine = Pick<typeof agents.$inferSelect, 'os' | 'kind'> | null;

/** Everything about a VM that decides the effect of a change. */
export interface DeclaredVm {
  head: LiveHead;
  /** The declared extensions, sorted by name. */
  present: ExtensionRow[];
  /** The next sequence number of each extension that the VM ever had, by name. */
  next: ReadonlyMap<string, number>;
  /** The protected settings that the declarations use, and the requested earlier ones, by id. */
  secrets: ReadonlyMap<string, SecretRow>;
  machine: AgentMachine;
}

/**
 * Loads what decides the effect of a change to these VMs, in the order of the heads. The number of statements does not
 * depend on the number of VMs. `otherSecrets` are ids of protected settings of earlier goal states.
 */
export async function loadDeclaredVms(
  tx: Transaction,
  heads: readonly LiveHead[],
  otherSecrets: readonly string[] = [],
): Promise<DeclaredVm[]> {
  const vmIds = heads.map(({ vmId }) => vmId);
  const present = await tx
    .select()
    .from(extensions)
    .where(ofVms(extensions.vmId, vmIds))
    .orderBy(extensions.vmId, extensions.name);
  const sequences = await tx.select().from(extensionSequences).where(ofVms(extensionSequences.vmId, vmIds));
  const ids = [...present.flatMap(({ secretId }) => secretId ?? []), ...otherSecrets];
  const stored =
    ids.length === 0
      ? []
      : await tx
          .select()
          .from(secrets)
          .where(and(ofVms(secrets.vmId, vmIds), sql`${secrets.id} = any(${sql.param(ids)}::uuid[])`));
  const machines = await tx
    .select({ vmId: agents.vmId, os: agents.os, kind: agents.kind })
    .from(agents)
    .where(ofVms(agents.vmId, vmIds));
  const presentOf = Map.groupBy(present, ({ vmId }) => vmId);
  const sequencesOf = Map.groupBy(sequences, ({ vmId }) => vmId);
  const secretsOf = Map.groupBy(stored, ({ vmId }) => vmId);
  const machineOf = new Map(machines.map(({ vmId, ...machine }) => [vmId, machine]));
  return heads.map((head) => ({
    head,
    present: presentOf.get(head.vmId) ?? [],
    next: new Map(sequencesOf.get(head.vmId)?.map(({ name, highest }) => [name, highest + 1])),
    secrets: new Map(secretsOf.get(head.vmId)?.map((row) => [row.id, row])),
    machine: machineOf.get(head.vmId) ?? null,
  }));
}

export const isStock = (machine: AgentMachine): boolean => machine?.kind === 'stock';

/** Returns the protected settings with an id; null if the id is null or unknown. */
export const secretOf = (stored: DeclaredVm['secrets'], id: string | null): SecretRow | null =>
  id === null ? null : (stored.get(id) ?? null);

/** A version as a goal names it. */
type NamedVersion = Pick<VersionRow, 'handler' | 'version'>;

/** Finds a version by any spelling of its number; null if it does not exist. */
export type VersionLookup = (goal: NamedVersion) => VersionRow | null;

const spellingOf = ({ handler, version }: NamedVersion): string => `${handler} ${version}`;
const keyOf = ({ handler, version }: NamedVersion): string => `${handler} ${versionKey(version)}`;

/** Loads the versions that goals name, with one statement. */
export async function loadVersions(tx: Transaction, goals: readonly NamedVersion[]): Promise<VersionLookup> {
  const spelled = [...new Map(goals.map((goal) => [spellingOf(goal), goal])).values()];
  const wanted = [...new Map(spelled.map((goal) => [keyOf(goal), goal])).values()];
  const known = wanted.filter(({ version }) => versionKey(version) !== null);
  if (known.length === 0) return () => null;
  const handlers = sql.param(known.map(({ handler }) => handler));
  const keys = sql.param(known.map(({ version }) => versionKey(version)));
  const rows = await tx
    .select()
    .from(handlerVersions)
    .where(
      sql`(${handlerVersions.handler}, ${handlerVersions.versionKey}) in (
        select * from unnest(${handlers}::text[], ${keys}::text[]))`,
    );
  const found = new Map(rows.map((row) => [keyOf(row), row]));
  const bySpelling = new Map(spelled.map((goal) => [spellingOf(goal), found.get(keyOf(goal))]));
  return (goal) => bySpelling.get(spellingOf(goal)) ?? found.get(keyOf(goal)) ?? null;
}

/** Returns a version that a declaration names. Throws 422 `version_unknown` | `version_is_formula`. */
export function requireVersion(versions: VersionLookup, { handler, version }: NamedVersion): HandlerVersionRow {
  const row = versions({ handler, version });
  if (row !== null && !isHandlerVersion(row)) throw unprocessable([formulaFault(row)]);
  if (row !== null) return row;
  throw unprocessable([{ path: '/version', code: 'version_unknown', params: { handler, version } }]);
}

/** Returns the fault of a declaration that names a formula: VMs run formulas only as units of services. */
export const formulaFault = ({ handler, version }: NamedVersion): Fault => ({
  path: '/version',
  code: 'version_is_formula',
  params: { handler, version },
});
