export * from './input.ts';
export * from './list-members.ts';
export * from './me.ts';
export type { Member } from './member.ts';
export * from './remove-member.ts';
export * from './update-member.ts';
