import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { cutText, type FormattedMessage, type MessageReference, type WantedLanguage } from '#protocol/index.ts';
import type { Context } from '#server/domain/context.ts';
import { failedPart } from '#server/domain/health/index.ts';
import { findMessages, localizeMessage } from '#server/domain/localization/index.ts';
import { type ExtensionHealth, type HealthCause, healthCauses, type VmHealth } from '#server/domain/verdicts/index.ts';

/** Why a VM is not healthy. */
export const vmReason = z.object({
  extension: z
    .string()
    .nullable()
    .describe('The extension, or the unit, that causes the VM’s health; null if the agent is not responding.'),
  handler: z.string().nullable().describe('The extension’s handler; null for a unit.'),
  cause: z.enum(healthCauses).nullable().describe('Null while work is in progress.'),
  command: z.string().nullable(),
  exitCode: z.number().int().nullable(),
  messageId: z.string().nullable(),
  waitsFor: z.string().nullable(),
  text: z
    .string()
    .nullable()
    .describe('The handler’s message in the caller’s language; without a message, a sentence about the cause.'),
  lang: z.string().nullable().describe('The language of `text`, a BCP 47 tag; `und` if unknown.'),
});
export type VmReason = z.infer<typeof vmReason>;

/** Maximum UTF-8 bytes of a reason. A list shows one line; the VM's page shows the whole message. */
const maxReasonBytes = 1_024;

/** The facts about an extension or a unit, including its health, from which a reason is derived. */
export interface ReasonFacts {
  name: string;
  /** Null for a unit. */
  handler: string | null;
  health: ExtensionHealth;
  cause: HealthCause | null;
  command: string | null;
  exitCode: number | null;
  waitsFor: string | null;
}

/** The reason for a VM's health, before its text is loaded. */
export interface OpenReason extends VmReason {
  vmId: string;
}

const noText = { messageId: null, text: null, lang: null };

/**
 * Returns the reason for a VM's health, without its text; null if the VM is healthy or its health is unknown.
 * `extensions` must be sorted, worst first. An extension that waits for another is the reason only if all extensions
 * with the VM's health are waiting.
 */
export function reasonOf(
  vm: { id: string; health: VmHealth; isSilent: boolean },
  extensions: readonly ReasonFacts[],
): OpenReason | null {
  if (vm.health === 'healthy' || vm.health === 'unknown') return null;
  const none = { extension: null, handler: null, command: null, exitCode: null, waitsFor: null, ...noText };
  if (vm.isSilent) return { vmId: vm.id, ...none, cause: 'silent' };
  const same = extensions.filter(({ health }) => health === vm.health);
  const found = same.find(({ cause }) => cause !== 'waiting') ?? same[0];
  if (found === undefined) return null;
  const { name: extension, handler, cause, command, exitCode, waitsFor } = found;
  return { vmId: vm.id, extension, handler, cause, command, exitCode, waitsFor, ...noText };
}

/** Causes for which the handler's latest status explains the health. */
const explained: readonly (HealthCause | null)[] = [null, 'exit', 'timeout', 'command', 'status', 'substatus'];

interface Sent {
  vmId: string;
  version: string;
  message: MessageReference | null;
  formattedMessage: FormattedMessage | null;
}

/**
 * Adds the handlers' messages to reasons, in the reader's language. Runs two statements, regardless of the number of
 * VMs. A reason without a message keeps only its codes.
 */
export async function withTexts(
  ctx: Pick<Context, 'db'>,
  reasons: readonly OpenReason[],
  wanted: readonly WantedLanguage[],
): Promise<Map<string, VmReason>> {
  const sent = await readSent(
    ctx,
    reasons.filter(({ extension, cause }) => extension !== null && explained.includes(cause)),
  );
  const asked = reasons.flatMap(({ vmId, handler }) => {
    const found = sent.get(vmId);
    return handler !== null && found?.message ? [{ handler, version: found.version, ids: [found.message.id] }] : [];
  });
  const resources = await findMessages(ctx.db, grouped(asked), wanted);
  return new Map(
    reasons.map(({ vmId, ...reason }) => {
      const found = sent.get(vmId);
      if (found === undefined) return [vmId, reason];
      const localized = localizeMessage({
        message: found.message ?? undefined,
        formattedMessage: found.formattedMessage ?? undefined,
        resources: resources.get(`${reason.handler}-${found.version}`) ?? new Map(),
        wanted,
      });
      const messageId = found.message?.id ?? null;
      if (localized === null) return [vmId, { ...reason, messageId }];
      return [vmId, { ...reason, messageId, text: cutText(localized.text, maxReasonBytes), lang: localized.lang }];
    }),
  );
}

/** Merges the ids of one version, so that the statement returns each version once. */
function grouped(asked: readonly { handler: string; version: string; ids: string[] }[]) {
  return [...Map.groupBy(asked, ({ handler, version }) => `${handler}-${version}`).values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ ...first, ids: [...new Set(group.flatMap(({ ids }) => ids))] }];
  });
}

const part = sql.raw(failedPart('l.status', 'u.status_word'));

/**
 * Reads the messages for reasons: the message of the failed substatus if it is the cause, otherwise the message of the
 * status. After a failed command, a status counts only if it has an error and the handler wrote it for the same goal.
 */
async function readSent({ db }: Pick<Context, 'db'>, reasons: readonly OpenReason[]): Promise<Map<string, Sent>> {
  if (reasons.length === 0) return new Map();
  const given = JSON.stringify(reasons.map(({ vmId, extension: name, cause }) => ({ vmId, name, cause })));
  const { rows } = await db.execute<{
    vmId: string;
    version: string;
    said: { message?: MessageReference; formattedMessage?: FormattedMessage };
  }>(sql`
    select a."vmId", coalesce(l.handler_state ->> 'version', e.version) as version, jsonb_build_object(
        'message', p.said -> 'message', 'formattedMessage', p.said -> 'formattedMessage') as said
    from jsonb_to_recordset(${given}::jsonb) a("vmId" uuid, name text, cause text)
    join extensions e on e.vm_id = a."vmId" and e.name = a.name
    join extension_pulse u on u.vm_id = a."vmId" and u.name = a.name
    join extension_latest l on l.vm_id = a."vmId" and l.name = a.name
    cross join lateral (select case when a.cause = 'substatus' then ${part} else l.status::jsonb end as said) p
    where p.said is not null and case
      when a.cause in ('exit', 'timeout', 'command')
        then u.status_word = 'error' and u.status_sequence = e.sequence_number
      when a.cause is null then u.status_sequence = e.sequence_number
      else true end`);
  return new Map(
    rows.map(({ vmId, version, said: { message, formattedMessage } }) => [
      vmId,
      { vmId, version, message: message ?? null, formattedMessage: formattedMessage ?? null },
    ]),
  );
}
