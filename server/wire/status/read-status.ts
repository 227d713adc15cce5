import { z } from 'zod';
import { cutTo } from './cut.ts';

const optional = <S extends z.ZodType>(schema: S) => schema.nullish().catch(undefined);
const text = optional(z.string());
/** An integer, which handlers sometimes write as text. Anything else counts as absent. */
const number = optional(
  z
    .union([z.number(), z.string().regex(/^\s*[+-]?\d{1,15}\s*$/)])
    .transform(Number)
    .pipe(z.int()),
);
const formatted = optional(z.looseObject({ lang: text, message: text }));

const handler = z.looseObject({
  handlerName: z.string().min(1).max(300),
  handlerVersion: text,
  status: z.string(),
  code: number,
  formattedMessage: formatted,
  runtimeSettingsStatus: optional(
    z.looseObject({
      sequenceNumber: number,
      extensionName: text,
      // The handler wrote this part. `read-passed-on.ts` parses it.
      settingsStatus: optional(z.looseObject({ status: z.unknown() })),
    }),
  ),
});
/** The state of a handler and one of its extensions. Handlers with several extensions have several entries. */
export type HandlerStatus = z.output<typeof handler>;

const blob = z.looseObject({
  timestampUTC: text,
  guestOSInfo: optional(z.looseObject({ osName: text, osVersion: text, version: text })),
  aggregateStatus: z.looseObject({
    guestAgentStatus: optional(z.looseObject({ version: text, status: text })),
    handlerAggregateStatus: optional(z.array(z.unknown())),
    vmArtifactsAggregateStatus: optional(
      z.looseObject({
        goalStateAggregateStatus: optional(
          z.looseObject({ inSvdSeqNo: number, status: text, code: number, formattedMessage: formatted }),
        ),
      }),
    ),
  }),
});

/** The readable parts of the status that an agent reports about its VM. */
export interface StatusBlob {
  at: string | null;
  agentVersion: string | null;
  os: { name?: string; version?: string };
  /** The goal state that the agent last finished; null if it reports none. */
  settled: { incarnation: number; status: string; message: string | null } | null;
  handlers: HandlerStatus[];
  /** Whether the list of handlers is present and completely readable. */
  isWhole: boolean;
}

/** Maximum number of entries. Real VMs have a few dozen. */
const maxHandlers = 1_000;
const highestIncarnation = 2 ** 31 - 1;

/** Truncates a word or a version to 64 bytes. */
const short = (said: string | null | undefined): string | undefined =>
  said === null || said === undefined ? undefined : cutTo(64, said);

/** Reads a status blob. Drops only malformed parts. Returns null if the blob itself is malformed. */
export function readStatus(value: unknown): StatusBlob | null {
  const read = blob.safeParse(value);
  if (!read.success) return null;
  const { timestampUTC, guestOSInfo, aggregateStatus } = read.data;
  const { guestAgentStatus, handlerAggregateStatus, vmArtifactsAggregateStatus } = aggregateStatus;
  const listed = handlerAggregateStatus ?? [];
  const handlers = listed.slice(0, maxHandlers).flatMap((entry) => {
    const found = handler.safeParse(entry);
    return found.success ? [found.data] : [];
  });
  const goalState = vmArtifactsAggregateStatus?.goalStateAggregateStatus;
  const settled = goalState?.inSvdSeqNo ?? -1;
  const incarnation = settled >= 0 && settled <= highestIncarnation ? settled : null;
  const isSuccess = goalState?.status?.toLowerCase() === 'success';
  const [osName, osVersion] = [short(guestOSInfo?.osName), short(guestOSInfo?.osVersion)];
  return {
    at: timestampUTC ?? null,
    agentVersion: short(guestAgentStatus?.version ?? guestOSInfo?.version) ?? null,
    os: { ...(osName && { name: osName }), ...(osVersion && { version: osVersion }) },
    settled:
      incarnation === null
        ? null
        : {
            incarnation,
            status: short(goalState?.status) ?? '',
            // After a success, the message adds nothing.
            message: isSuccess ? null : cutTo(4_096, goalState?.formattedMessage?.message ?? '') || null,
          },
    handlers,
    isWhole: Array.isArray(handlerAggregateStatus) && handlers.length === listed.length,
  };
}
