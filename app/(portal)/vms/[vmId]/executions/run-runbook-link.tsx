'use client';

import { NotebookText } from 'lucide-react';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { runHref } from '#app/(portal)/runbooks/runbook-data.ts';

/** A link to the page that runs a runbook, for readers who may run runbooks. */
export function RunRunbookLink({ vmId }: { vmId: string }) {
  const { t } = useTranslation('executions');
  const reader = useReader();
  if (!reader.can('operator')) return null;
  return (
    <Button asChild size="sm">
      <Link href={runHref(vmId)}>
        <NotebookText aria-hidden />
        {t('runRunbook')}
      </Link>
    </Button>
  );
}
