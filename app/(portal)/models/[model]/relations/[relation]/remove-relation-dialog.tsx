'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { type RelationName, relationTitle, type ShownRelationDetails } from '../relation-data.ts';

export interface RemoveRelationDialogProps {
  name: RelationName;
  relation: ShownRelationDetails;
  onClose(): void;
}

/** Removes a relation. Its units run their last hooks. */
export function RemoveRelationDialog({ name: { model, number }, relation, onClose }: RemoveRelationDialogProps) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const queries = useQueryClient();
  const explain = useProblem();
  const remove = useMutation(
    trpc.relations.remove.mutationOptions({ onSettled: () => queries.invalidateQueries(trpc.relations.pathFilter()) }),
  );
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('relation.remove.title', { endpoints: relationTitle(relation) })}
      description={t('relation.remove.why', { count: relation.units })}
      confirmLabel={t('relation.act.remove')}
      onConfirm={() => remove.mutateAsync({ model, number })}
      error={remove.error === null ? undefined : explain(remove.error).message}
    />
  );
}
