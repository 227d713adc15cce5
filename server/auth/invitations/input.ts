import { z } from 'zod';
import { namespaces, role } from '../members/input.ts';
import { email, password, personName } from '../passwords.ts';

/** `hours` is the lifetime of the link: a week by default, 30 days at most. */
export const createInvitationInput = z.strictObject({
  role,
  namespaces: namespaces.default([]),
  hours: z.number().int().min(1).max(720).default(168),
});
export type CreateInvitationInput = z.input<typeof createInvitationInput>;

export const revokeInvitationInput = z.strictObject({ id: z.uuid() });
export type RevokeInvitationInput = z.input<typeof revokeInvitationInput>;

export const renewInvitationInput = z.strictObject({ id: z.uuid() });
export type RenewInvitationInput = z.input<typeof renewInvitationInput>;

const token = z.string().min(1).max(200);

export const readInvitationInput = z.strictObject({ token });
export type ReadInvitationInput = z.input<typeof readInvitationInput>;

export const redeemInvitationInput = z.strictObject({ token, name: personName, email, password });
export type RedeemInvitationInput = z.input<typeof redeemInvitationInput>;
