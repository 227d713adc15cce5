import { z } from 'zod';
import { vmId } from '#server/domain/vms/input.ts';

const ofVm = z.object({ vmId });

export const grantWireAccessInput = ofVm;
export type GrantWireAccessInput = z.input<typeof grantWireAccessInput>;

export const revokeWireAccessInput = ofVm;
export type RevokeWireAccessInput = z.input<typeof revokeWireAccessInput>;

export const rotateTenantKeyInput = ofVm;
export type RotateTenantKeyInput = z.input<typeof rotateTenantKeyInput>;

export const setHoldInput = z.object({ vmId, onHold: z.boolean() });
export type SetHoldInput = z.input<typeof setHoldInput>;

export const getWireAccessInput = ofVm;
export type GetWireAccessInput = z.input<typeof getWireAccessInput>;
