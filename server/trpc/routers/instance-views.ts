import { getInstanceView } from '#server/domain/views/get-instance-view.ts';
import type { InstanceViewInput } from '#server/domain/views/input.ts';
import { type CallContext, query, router } from '../trpc.ts';

/** The page's client puts the language that its reader chose first into `Accept-Language`. */
const inTheReadersLanguage = (ctx: CallContext, { vmId }: Pick<InstanceViewInput, 'vmId'>) =>
  getInstanceView(ctx, { vmId, acceptLanguage: ctx.headers.get('accept-language') });

export const instanceViewsRouter = router({ get: query(inTheReadersLanguage) });
