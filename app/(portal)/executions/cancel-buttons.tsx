'use client';

import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';

const CancelDialog = dynamic(() => import('./cancel-dialog.tsx').then((module) => module.CancelDialog), {
  ssr: false,
});
const CancelWaitingDialog = dynamic(() => import('./cancel-dialog.tsx').then((module) => module.CancelWaitingDialog), {
  ssr: false,
});

export interface CancelExecutionProps {
  vmId: string;
  executionId: string;
  label: string;
}

/** A button that cancels an execution. Hidden once someone has canceled the execution. */
export function CancelExecution({ vmId, executionId, label }: CancelExecutionProps) {
  const trpc = useTRPC();
  const [isOpen, setOpen] = useState(false);
  const { data } = useQuery(trpc.executions.get.queryOptions({ vmId, executionId }));
  if (data === undefined || data.cancelAskedAt !== null) return null;
  return (
    <>
      <Button variant="danger" onClick={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen ? <CancelDialog execution={data} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

export interface CancelWaitingProps {
  vmId: string;
  name: string;
  /** Number of waiting executions. */
  count: number;
}

/** A button that cancels all waiting executions of a VM. */
export function CancelWaiting({ vmId, name, count }: CancelWaitingProps) {
  const { t } = useTranslation('executions');
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="sm" variant="ghost" onClick={() => setOpen(true)}>
        {t('cancelWaiting', { count })}
      </Button>
      {isOpen ? <CancelWaitingDialog vmId={vmId} name={name} count={count} onClose={() => setOpen(false)} /> : null}
    </>
  );
}
