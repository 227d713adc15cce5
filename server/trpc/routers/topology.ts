import { renewPassword, renewToken } from '#server/domain/topology/index.ts';
import { mutation, router } from '../trpc.ts';

export const topologyRouter = router({
  renewPassword: mutation(renewPassword),
  renewToken: mutation(renewToken),
});
