import { z } from 'zod';

export const endOwnSessionInput = z.strictObject({ id: z.string().min(1).max(64) });
export type EndOwnSessionInput = z.input<typeof endOwnSessionInput>;

export const listMemberSessionsInput = z.strictObject({ memberId: z.string().min(1).max(64) });
export type ListMemberSessionsInput = z.input<typeof listMemberSessionsInput>;

/** Without `id`, all sessions of the member are ended. */
export const endMemberSessionsInput = z.strictObject({
  memberId: z.string().min(1).max(64),
  id: z.string().min(1).max(64).optional(),
});
export type EndMemberSessionsInput = z.input<typeof endMemberSessionsInput>;
