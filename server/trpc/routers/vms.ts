import { registerVm } from '#server/domain/enrollment/index.ts';
import { holdVm, releaseHold } from '#server/domain/holds/index.ts';
import {
  getWireAccess,
  grantWireAccess,
  revokeWireAccess,
  rotateTenantKey,
} from '#server/domain/stock-agents/index.ts';
import { renewToken } from '#server/domain/topology/index.ts';
import { getVmFacts } from '#server/domain/views/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { updateVm } from '#server/domain/vms/index.ts';
import { mutation, query, router } from '../trpc.ts';

export const vmsRouter = router({
  get: query(getVmFacts),
  create: mutation(registerVm),
  update: mutation(updateVm),
  remove: mutation(removeVm),
  issueEnrollmentToken: mutation(renewToken),
  wireAccess: query(getWireAccess),
  grantWireAccess: mutation(grantWireAccess),
  revokeWireAccess: mutation(revokeWireAccess),
  rotateTenantKey: mutation(rotateTenantKey),
  hold: mutation(holdVm),
  releaseHold: mutation(releaseHold),
});
