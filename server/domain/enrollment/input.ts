import { z } from 'zod';
import { createVmInput, vmId } from '#server/domain/vms/input.ts';

export const registerVmInput = createVmInput;
export type RegisterVmInput = z.input<typeof registerVmInput>;

export const issueEnrollmentTokenInput = z.object({ vmId });
export type IssueEnrollmentTokenInput = z.input<typeof issueEnrollmentTokenInput>;
