import type { invitations } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import { DomainError } from '#server/domain/error.ts';

type Row = typeof invitations.$inferSelect;

/** Whether this is the link for the first administrator. The portal creates that link itself. */
export const isSetUp = (invitation: Pick<Row, 'createdBy'>): boolean => invitation.createdBy === systemActor.id;

/** Returns the same error for unknown, used, replaced and expired links, so that it does not reveal the reason. */
export const refusedInvitation = () => new DomainError('unauthenticated', 'invitation_refused');

export const invitationLink = (portalUrl: string, token: string): string => `${portalUrl}/set-up?token=${token}`;
