import { z } from 'zod';
import { givenText } from '#protocol/file.ts';
import { createPublisherInput } from '#server/domain/publishers/input.ts';
import { namespaces, role } from '../members/input.ts';
import { email, password, personName } from '../passwords.ts';

/**
 * `recipient` is a name or an email address. A publisher needs at least one namespace: an existing one in `namespaces`,
 * or `newPublisher`, which is created with the invitation. `hours` is the lifetime of the link: a week by default, 30
 * days at most.
 */
export const createInvitationInput = z
  .strictObject({
    role,
    recipient: givenText(200).optional(),
    namespaces: namespaces.default([]),
    newPublisher: createPublisherInput.strict().optional(),
    hours: z.number().int().min(1).max(720).default(168),
  })
  .refine(
    ({ role: of, namespaces: some, newPublisher }) =>
      of !== 'publisher' || some.length > 0 || newPublisher !== undefined,
    { message: 'namespace_needed', path: ['namespaces'] },
  );
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
