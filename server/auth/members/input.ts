import { z } from 'zod';
import { personName } from '../passwords.ts';

/** The roles of the API contract. */
export const role = z.enum(['viewer', 'operator', 'publisher', 'admin']);

/** Namespaces of a publisher; stored only for the role `publisher`. */
export const namespaces = z.array(z.string().min(1).max(256)).max(200);

export const updateMemberInput = z.strictObject({
  id: z.string().min(1).max(64),
  name: personName.optional(),
  role: role.optional(),
  namespaces: namespaces.optional(),
});
export type UpdateMemberInput = z.input<typeof updateMemberInput>;

export const removeMemberInput = z.strictObject({ id: z.string().min(1).max(64) });
export type RemoveMemberInput = z.input<typeof removeMemberInput>;
