import { z } from 'zod';
import { handlerStates } from '#protocol/index.ts';
import { commandFailed, commandOf, hasBegun, statusOfGoal } from './explain-facts.ts';
import type { ExplainedExtension } from './explanation.ts';

/** Codes of notices. Each has a text in `locales/<language>/reports.json` under `said.<code>`. */
export const noticeCodes = [
  'waits',
  'leaving',
  'notDelivered',
  'notBegun',
  'failed.unnamed',
  ...handlerStates,
] as const;

/** The portal's message about an extension whose handler's own message is absent or out of date. */
export const notice = z
  .object({
    code: z.enum(noticeCodes),
    values: z.record(z.string(), z.string()),
  })
  .meta({
    id: 'Notice',
    description: 'The portal’s own message about an extension: a code and the values in its text.',
  });
export type Notice = z.infer<typeof notice>;

/** Returns the notice; null if the handler's own message applies. */
export function noticeOf(extension: ExplainedExtension): Notice | null {
  const { status, handlerState, goal, deliveredAt } = extension;
  const begun = hasBegun(extension) ? handlerState : null;
  const say = (code: Notice['code'], values: Notice['values'] = {}): Notice => ({ code, values });
  if (begun && begun.blockedBy !== null) return say('waits', { other: begun.blockedBy });
  if (begun && statusOfGoal(extension) !== null && goal !== 'uninstall') return null;
  // The message of an earlier sequence number would contradict the failed command.
  if (begun && commandFailed(extension)) {
    const command = commandOf(extension);
    return command === '' ? say('failed.unnamed') : say('failed', { command });
  }
  if (goal === 'uninstall') return say('leaving');
  if (deliveredAt === null) return status === null ? say('notDelivered') : null;
  if (!begun) return status === null ? say('notBegun') : null;
  return status === null || begun.state !== 'enabled' ? say(begun.state) : null;
}
