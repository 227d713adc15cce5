'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { CopyCommand } from '#app/_ui/copy.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { StockCommands } from './stock-commands.tsx';
import type { VmFacts, WireAccess } from './vm-data.ts';

export interface StockDialogProps {
  facts: VmFacts;
  gatewayUrl: string;
  onClose(): void;
}

/**
 * Connects a VM to the stock agent, or creates another token for its forwarder. Shows the token once, with the commands
 * that use it.
 */
export function StockDialog({ facts, gatewayUrl, onClose }: StockDialogProps) {
  const { t } = useTranslation(['enrollment', 'common']);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const { id: vmId, name } = facts;
  const access = useQuery(trpc.vms.wireAccess.queryOptions({ vmId }));
  const grant = useMutation(
    trpc.vms.grantWireAccess.mutationOptions({
      onSettled: () => queryClient.invalidateQueries(trpc.vms.pathFilter()),
    }),
  );
  const close = <Button onClick={onClose}>{t('common:close')}</Button>;
  const shared = { open: true, onOpenChange: onClose, size: 'wide' } as const;
  if (grant.data) {
    return (
      <Dialog
        {...shared}
        title={t('enrollment:stock.connect', { name })}
        description={t('enrollment:stock.run')}
        footer={close}
      >
        <StockCommands vmId={vmId} gatewayUrl={gatewayUrl} token={grant.data.token} />
      </Dialog>
    );
  }
  const state = access.data ? stateOf(access.data) : null;
  if (state !== 'new' && state !== 'renew') {
    return (
      <Dialog {...shared} title={t('enrollment:stock.connect', { name })} footer={close}>
        {state === null ? (
          access.error ? (
            <QueryError error={access.error} onRetry={access.refetch} at={new Date(access.errorUpdatedAt)} />
          ) : (
            <SkeletonRows columns={['w-64']} rows={3} label={t('common:loading')} />
          )
        ) : (
          <p className="text-ink-2">{t(`enrollment:stock.${state}`, { name })}</p>
        )}
        {state === 'closed' ? <CopyCommand command="ANNEX_WIRE=on npm start" /> : null}
      </Dialog>
    );
  }
  return (
    <Dialog
      {...shared}
      title={t(state === 'renew' ? 'enrollment:stock.renew' : 'enrollment:stock.connect', { name })}
      description={t(state === 'renew' ? 'enrollment:stock.renew.what' : 'enrollment:stock.what', { name })}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button variant="primary" busy={grant.isPending} onClick={() => grant.mutate({ vmId })}>
            {t('enrollment:token.act')}
          </Button>
        </>
      }
    >
      {state === 'new' ? <Needs /> : null}
      {grant.error ? (
        <div role="alert">
          <FieldError>{explain(grant.error).message}</FieldError>
        </div>
      ) : null}
    </Dialog>
  );
}

/**
 * Returns what the dialog offers: nothing (`closed`, `reference`), the first token (`new`), or another token (`renew`).
 */
function stateOf({ isOpen, agent }: WireAccess): 'closed' | 'reference' | 'new' | 'renew' {
  if (!isOpen) return 'closed';
  if (agent === 'reference') return 'reference';
  return agent === 'stock' ? 'renew' : 'new';
}

function Needs() {
  const { t } = useTranslation('enrollment');
  const name = <code translate="no" className="mono" />;
  return (
    <div>
      <h3 className="text-12 font-medium">{t('stock.needs')}</h3>
      <ul className="mt-1 grid list-disc gap-1 ps-5 text-ink-2">
        <li>
          <Trans text={t('stock.needs.agent')} tags={{ name }} />
        </li>
        <li>
          <Trans text={t('stock.needs.forwarder')} tags={{ name }} />
        </li>
        <li>{t('stock.needs.key')}</li>
      </ul>
    </div>
  );
}
