import { planSwap, swap } from '#server/domain/services/index.ts';
import { closeEndpoint, listEndpoints, renewPassword, renewToken, setEndpoint } from '#server/domain/topology/index.ts';
import { mutation, query, router } from '../trpc.ts';

export const topologyRouter = router({
  closeEndpoint: mutation(closeEndpoint),
  endpoints: query(listEndpoints),
  planSwap: query(planSwap),
  renewPassword: mutation(renewPassword),
  renewToken: mutation(renewToken),
  setEndpoint: mutation(setEndpoint),
  swap: mutation(swap),
});
