import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import type { CommandName } from '#protocol/index.ts';
import type { Context } from '#server/domain/context.ts';
import { actorRef } from '#server/domain/principal.ts';
import { expectReports } from '#server/domain/reported-state/index.ts';
import { commandsForMany } from '../commands-for.ts';
import { type NewSecret, storeSecrets } from '../custody.ts';
import { type Declared, protectedSchemaDigest } from '../declare.ts';
import type { Evaluation } from '../move.ts';
import { type ExtensionMove, givenSecret } from '../move.ts';
import type { Head } from '../publish.ts';
import { nextSequenceNumbers } from '../sequence.ts';
import type { TouchedExtension } from './change.ts';
import { effectiveMoves } from './kind-of.ts';

/** A change to one VM that is to be written. */
export interface MemberWrite {
  head: Head;
  evaluation: Evaluation;
  /** The actor who entered the protected settings, as `kind:id`; by default, the caller. */
  setBy: string | null | undefined;
}

/** One extension's change, with what was decided while writing. */
interface ExtensionWrite {
  vmId: string;
  move: ExtensionMove;
  /** Null if the extension is dropped. */
  declared: Declared | null;
  sequenceNumber: number;
  /** Undefined if the extension gets no new sequence number. */
  commands: CommandName[] | undefined;
}

/**
 * Writes the declarations of many VMs, without publishing goal states. The number of statements does not depend on the
 * number of VMs. Returns the extensions of each VM that were changed. The caller holds the locks of the heads.
 */
export async function writeMany(
  tx: Transaction,
  ctx: Context,
  writes: readonly MemberWrite[],
): Promise<Map<string, TouchedExtension[]>> {
  if (writes.length === 0) return new Map();
  const commands = await commandsForMany(tx, new Map(writes.map(({ head, evaluation }) => [head.vmId, evaluation])));
  const secretIds = await storeGiven(tx, ctx, writes);
  const rows = writes.flatMap(({ head: { vmId }, evaluation }) =>
    effectiveMoves(evaluation).map((move): ExtensionWrite => {
      const secretId = secretIds.get(keyOf(vmId, move.name));
      const declared = move.after && secretId ? { ...move.after, secretId } : move.after;
      const started = commands.get(vmId)?.get(move.name);
      return { vmId, move, declared, sequenceNumber: move.sequenceNumber, commands: started };
    }),
  );
  await takeNumbers(tx, rows);
  await dropExtensions(tx, rows);
  await upsertExtensions(tx, ctx, rows);
  await expectReports(
    tx,
    rows.filter(({ move }) => !move.current).map(({ vmId, move }) => ({ vmId, name: move.name })),
  );
  return new Map([...Map.groupBy(rows, ({ vmId }) => vmId)].map(([vmId, some]) => [vmId, some.map(touchedOf)]));
}

const keyOf = (vmId: string, name: string): string => `${vmId} ${name}`;

function touchedOf({ move: { name, current }, declared, sequenceNumber }: ExtensionWrite): TouchedExtension {
  const before = current ? { version: current.version, sequenceNumber: current.sequenceNumber } : null;
  return { name, before, version: declared?.version ?? null, sequenceNumber };
}

/** Stores the given protected settings of each extension. Returns their ids, by VM and extension. */
async function storeGiven(
  tx: Transaction,
  ctx: Context,
  writes: readonly MemberWrite[],
): Promise<ReadonlyMap<string, string>> {
  const given = writes.flatMap(({ head, evaluation, setBy }) =>
    effectiveMoves(evaluation).flatMap(({ name, after, version, given: value, merged }) => {
      if (after?.secretId !== givenSecret) return [];
      const schemaDigest = protectedSchemaDigest(version?.settingsSchema ?? null);
      const secret: NewSecret = { head, name, value, schemaDigest, ...(merged && { carried: merged.carried }) };
      return [{ setBy: setBy === undefined ? actorRef(ctx.actor) : setBy, secret }];
    }),
  );
  const ids = new Map<string, string>();
  for (const [setBy, some] of Map.groupBy(given, (each) => each.setBy)) {
    const stored = await storeSecrets(
      tx,
      ctx,
      setBy,
      some.map(({ secret }) => secret),
    );
    for (const [index, { secret }] of some.entries()) {
      const id = stored[index];
      if (id !== undefined) ids.set(keyOf(secret.head.vmId, secret.name), id);
    }
  }
  return ids;
}

/** Gives the next sequence number to each extension whose handler runs. */
async function takeNumbers(tx: Transaction, rows: readonly ExtensionWrite[]): Promise<void> {
  const started = rows.filter(({ commands }) => commands !== undefined);
  const numbers = await nextSequenceNumbers(
    tx,
    started.map(({ vmId, move }) => ({ vmId, name: move.name })),
  );
  started.forEach((row, index) => {
    row.sequenceNumber = numbers[index] ?? row.sequenceNumber;
  });
}

async function dropExtensions(tx: Transaction, rows: readonly ExtensionWrite[]): Promise<void> {
  const dropped = rows.filter(({ declared }) => declared === null);
  if (dropped.length === 0) return;
  const vmIds = sql.param(dropped.map(({ vmId }) => vmId));
  const names = sql.param(dropped.map(({ move }) => move.name));
  await tx.execute(sql`
    delete from extensions e using unnest(${vmIds}::uuid[], ${names}::text[]) as r(vm_id, name)
     where e.vm_id = r.vm_id and e.name = r.name`);
}

/** Writes declarations. An extension without commands keeps its sequence number and its times. */
async function upsertExtensions(tx: Transaction, ctx: Context, rows: readonly ExtensionWrite[]): Promise<void> {
  const declared = rows.flatMap(({ vmId, declared, sequenceNumber, commands }) =>
    declared ? [{ ...declared, vmId, sequenceNumber, commands: commands ?? null }] : [],
  );
  if (declared.length === 0) return;
  await tx.execute(sql`
    insert into extensions as e (vm_id, name, handler, requested_version, version, state, auto_upgrade_minor_version,
           depends_on, timeouts, public_settings, secret_id, sequence_number, commands, changed_at, changed_by)
    select r."vmId", r.name, r.handler, r."requestedVersion", r.version, r.state, r."autoUpgradeMinorVersion",
           r."dependsOn", r.timeouts, r."publicSettings", r."secretId", r."sequenceNumber", r.commands,
           ${ctx.now.toISOString()}::timestamptz, ${ctx.actor.name}
      from json_to_recordset(${JSON.stringify(declared)}::json) as r("vmId" uuid, name text, handler text,
           "requestedVersion" text, version text, state text, "autoUpgradeMinorVersion" boolean, "dependsOn" text[],
           timeouts json, "publicSettings" json, "secretId" uuid, "sequenceNumber" bigint, commands text[])
    on conflict (vm_id, name) do update set
      requested_version = excluded.requested_version, version = excluded.version, state = excluded.state,
      auto_upgrade_minor_version = excluded.auto_upgrade_minor_version, depends_on = excluded.depends_on,
      timeouts = excluded.timeouts, public_settings = excluded.public_settings, secret_id = excluded.secret_id,
      sequence_number = case when excluded.commands is null then e.sequence_number else excluded.sequence_number end,
      commands = coalesce(excluded.commands, e.commands),
      changed_at = case when excluded.commands is null then e.changed_at else excluded.changed_at end,
      changed_by = case when excluded.commands is null then e.changed_by else excluded.changed_by end,
      delivered_at = case when excluded.commands is null then e.delivered_at end`);
}
