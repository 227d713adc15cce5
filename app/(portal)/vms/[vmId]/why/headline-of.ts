import type { InstanceDetails, ReportedMessage } from '../vm-data.ts';

/** A message with its language. Messages of handlers also have a source. */
export type HeadlineMessage = ReportedMessage | NonNullable<NonNullable<InstanceDetails['units']>['message']>;

/** Codes of lead sentences about problems that no handler message explains, such as a silent agent or a hold. */
const portalOnly = [
  ...['lead.silent', 'lead.undelivered', 'lead.held', 'lead.hold', 'lead.secrets', 'lead.release'],
  ...['lead.turn', 'lead.turn.restarts', 'lead.turn.unnamed'],
];

/**
 * Returns the own message of the handler, or of the unit's hook, about the problem that the explanation names; null if
 * there is no such message. For a failed command, returns only an error or a warning, because an earlier message may
 * describe progress.
 */
export function headlineOf({
  explanation,
  extensions,
  units,
}: Pick<InstanceDetails, 'explanation' | 'extensions' | 'units'>): HeadlineMessage | null {
  if (explanation !== null && explanation.extension === units?.unit) return units.message;
  if (explanation === null || portalOnly.includes(explanation.lead.code)) return null;
  const link = explanation.links.find(({ kind }) => kind === 'cause');
  const extension = extensions.find(({ name }) => name === link?.extension);
  if (link === undefined || extension === undefined) return null;
  const { status, heartbeat, failedPart, goalSequenceNumber } = extension;
  const current = status !== null && status.sequenceNumber >= goalSequenceNumber ? status : null;
  switch (link.title.code) {
    case 'part':
    case 'part.unnamed':
      return failedPart?.message ?? null;
    case 'notReady':
    case 'unresponsive':
      return heartbeat.message ?? (current?.status === 'warning' ? current.message : null);
    case 'failed':
      return current?.status === 'error' || current?.status === 'warning' ? current.message : null;
    case 'error':
    case 'warns':
    case 'works':
    case 'late':
      return current?.message ?? null;
    default:
      return null;
  }
}

/** Returns the handler's own message about an extension's problem; null if there is no such message. */
export function messageOfProblem({
  cause,
  status,
  heartbeat,
  failedPart,
  goalSequenceNumber,
}: InstanceDetails['extensions'][number]): ReportedMessage | null {
  if (cause === 'substatus') return failedPart?.message ?? null;
  if (cause === 'heartbeat') return heartbeat.message;
  const isCurrent = status !== null && status.sequenceNumber >= goalSequenceNumber;
  return isCurrent && (status.status === 'error' || status.status === 'warning') ? status.message : null;
}
