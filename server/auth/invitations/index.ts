export * from './create-invitation.ts';
export * from './input.ts';
export { invitationLink } from './invitation.ts';
export * from './list-invitations.ts';
export * from './read-invitation.ts';
export * from './redeem-invitation.ts';
export * from './renew-invitation.ts';
export * from './revoke-invitation.ts';
