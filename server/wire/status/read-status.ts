import { z } from 'zod';

const optional = <S extends z.ZodType>(schema: S) => schema.nullish().catch(undefined);
const text = optional(z.string());
/** Handlers write numbers as text too; what is no whole number is none. */
const number = optional(
  z
    .union([z.number(), z.string().regex(/^\s*[+-]?\d{1,15}\s*$/)])
    .transform(Number)
    .pipe(z.int()),
);
const formatted = optional(z.looseObject({ lang: text, message: text }));

const part = z.looseObject({ name: text, status: z.string(), code: number, formattedMessage: formatted });
/** What is told of one of them, or what is told of it cannot be read: the others count all the same. */
const parts = optional(z.array(z.unknown())).transform((list) =>
  (list ?? []).flatMap((each) => {
    const read = part.safeParse(each);
    return read.success ? [read.data] : [];
  }),
);

const extensionStatus = part.extend({
  operation: text,
  configurationAppliedTime: text,
  substatus: parts,
});
export type ExtensionStatus = z.output<typeof extensionStatus>;

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
      settingsStatus: optional(z.looseObject({ timestampUTC: text, status: optional(extensionStatus) })),
    }),
  ),
});
/** How a handler and one of its extensions stand; a handler of several extensions comes several times. */
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

/** What the agent says of its VM, as far as it can be read. */
export interface StatusBlob {
  at: string | null;
  agentVersion: string | null;
  os: { name?: string; version?: string };
  /** The incarnation that it is done with; null before the first. */
  settled: { incarnation: number; status: string; message: string | null } | null;
  handlers: HandlerStatus[];
  /** Entries that cannot be read. */
  unread: number;
}

/** Reads a status blob; null where it is none. What is odd within it costs no more than itself. */
export function readStatus(value: unknown): StatusBlob | null {
  const read = blob.safeParse(value);
  if (!read.success) return null;
  const { timestampUTC, guestOSInfo, aggregateStatus } = read.data;
  const { guestAgentStatus, handlerAggregateStatus, vmArtifactsAggregateStatus } = aggregateStatus;
  const entries = (handlerAggregateStatus ?? []).map((entry) => handler.safeParse(entry));
  const goalState = vmArtifactsAggregateStatus?.goalStateAggregateStatus;
  const incarnation = goalState?.inSvdSeqNo ?? null;
  const isSuccess = goalState?.status?.toLowerCase() === 'success';
  const { osName, osVersion } = guestOSInfo ?? {};
  return {
    at: timestampUTC ?? null,
    agentVersion: guestAgentStatus?.version ?? guestOSInfo?.version ?? null,
    os: { ...(osName && { name: osName }), ...(osVersion && { version: osVersion }) },
    settled:
      incarnation === null
        ? null
        : {
            incarnation,
            status: goalState?.status ?? '',
            // That all went well is said by the word.
            message: isSuccess ? null : goalState?.formattedMessage?.message || null,
          },
    handlers: entries.flatMap((entry) => (entry.success ? [entry.data] : [])),
    unread: entries.filter((entry) => !entry.success).length,
  };
}
