import type { invitations } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import { DomainError } from '#server/domain/error.ts';

type Row = typeof invitations.$inferSelect;

/** The link that makes the first administrator; the portal itself made it. */
export const isSetUp = (invitation: Pick<Row, 'createdBy'>): boolean => invitation.createdBy === systemActor.id;

/** One answer for unknown, used, replaced and expired links: they tell nothing about each other. */
export const refusedInvitation = () => new DomainError('unauthenticated', 'invitation_refused');

export const invitationLink = (portalUrl: string, token: string): string => `${portalUrl}/set-up?token=${token}`;
