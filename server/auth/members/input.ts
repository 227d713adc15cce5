import { z } from 'zod';
import { namespace } from '#server/domain/publishers/input.ts';
import { personName } from '../passwords.ts';

export const role = z.enum(['viewer', 'operator', 'publisher', 'admin']);

/** The namespaces of a publisher. For other roles, none are stored. */
export const namespaces = z.array(namespace).max(200);

/** Whether an operator or publisher has the grant `scripts` (docs/permissions.md). It is not stored for other roles. */
export const scripts = z.boolean();

export const updateMemberInput = z.strictObject({
  id: z.string().min(1).max(64),
  name: personName.optional(),
  role: role.optional(),
  namespaces: namespaces.optional(),
  scripts: scripts.optional(),
});
export type UpdateMemberInput = z.input<typeof updateMemberInput>;

export const removeMemberInput = z.strictObject({ id: z.string().min(1).max(64) });
export type RemoveMemberInput = z.input<typeof removeMemberInput>;
