import { issueEnrollmentToken, registerVm, removeVm } from '#server/domain/enrollment/index.ts';
import { getVm, listVms, updateVm } from '#server/domain/vms/index.ts';
import { mutation, query, router } from '../trpc.ts';

export const vmsRouter = router({
  list: query(listVms),
  get: query(getVm),
  create: mutation(registerVm),
  update: mutation(updateVm),
  remove: mutation(removeVm),
  issueEnrollmentToken: mutation(issueEnrollmentToken),
});
