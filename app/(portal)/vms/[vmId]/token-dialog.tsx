'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { EnrollCommands } from '#app/(portal)/vms/enroll-commands.tsx';
import type { VmFacts } from './vm-data.ts';

export interface TokenDialogProps {
  facts: VmFacts;
  gatewayUrl: string;
  onClose(): void;
}

/** Creates an enrollment token and shows it once, with the commands that use it. */
export function TokenDialog({ facts, gatewayUrl, onClose }: TokenDialogProps) {
  const { t } = useTranslation(['enrollment', 'common']);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const { name } = facts;
  const [before] = useState(facts.enrolledAt);
  const issue = useMutation(
    trpc.vms.issueEnrollmentToken.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries(trpc.vms.get.pathFilter()),
    }),
  );
  if (issue.data) {
    return (
      <Dialog
        open
        size="wide"
        onOpenChange={onClose}
        title={t('enrollment:token.title', { name })}
        description={t('enrollment:token.why')}
        footer={<Button onClick={onClose}>{t('common:close')}</Button>}
      >
        <EnrollCommands vm={facts} gatewayUrl={gatewayUrl} token={issue.data} before={before} />
      </Dialog>
    );
  }
  const replaces = before !== null;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t(replaces ? 'enrollment:token.replace' : 'enrollment:token.title', { name })}
      description={t(replaces ? 'enrollment:token.replace.what' : 'enrollment:never.why')}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button variant="primary" busy={issue.isPending} onClick={() => issue.mutate({ vmId: facts.id })}>
            {t('enrollment:token.act')}
          </Button>
        </>
      }
    >
      {issue.error ? (
        <div role="alert">
          <FieldError>{explain(issue.error).message}</FieldError>
        </div>
      ) : null}
    </Dialog>
  );
}
