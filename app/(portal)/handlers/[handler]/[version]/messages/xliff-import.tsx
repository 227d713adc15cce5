'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { sendXliff, targetOf, type XliffOutcome } from './send-xliff.ts';
import { XliffChanges } from './xliff-changes.tsx';

export interface XliffImportProps {
  handler: string;
  version: string;
  file: File;
  onClose(): void;
}

/** Shows what a translated file would change, and stores it on confirmation. */
export function XliffImport({ handler, version, file, onClose }: XliffImportProps) {
  const { t } = useTranslation(['localization', 'common']);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const preview = useQuery({
    queryKey: ['xliff', handler, version, file.name, file.lastModified, file.size],
    queryFn: async () => {
      const lang = await targetOf(file);
      // `zxx` means no language. The portal rejects a file without a language, and reports its other faults too.
      return sendXliff({ handler, version, lang: lang ?? 'zxx', file });
    },
    retry: false,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    networkMode: 'always',
  });
  const store = useMutation({
    mutationFn: ({ lang, revision }: XliffOutcome) => sendXliff({ handler, version, lang, file, revision }),
    networkMode: 'always',
    onSuccess: async ({ lang, added, changed }) => {
      await Promise.all([
        queryClient.invalidateQueries(trpc.resources.pathFilter()),
        queryClient.invalidateQueries(trpc.handlers.pathFilter()),
      ]);
      toast(t('localization:xliff.done', { lang, count: added + changed }));
      onClose();
    },
    // The language may have changed since the preview.
    onError: () => void preview.refetch(),
  });
  const outcome = preview.data;
  const error = preview.error ?? store.error;
  const problem = error ? explain(error) : undefined;
  const count = outcome ? outcome.added + outcome.changed : 0;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="wide"
      title={outcome ? t('localization:xliff.title', { lang: outcome.lang }) : t('localization:xliff.import')}
      description={file.name}
      footer={
        <>
          <Button onClick={onClose}>{t(count > 0 ? 'common:cancel' : 'common:close')}</Button>
          {outcome && count > 0 && !preview.error ? (
            <Button
              variant="primary"
              busy={store.isPending || preview.isFetching}
              onClick={() => store.mutate(outcome)}
            >
              {t('localization:xliff.store', { lang: outcome.lang, count })}
            </Button>
          ) : null}
        </>
      }
    >
      {problem ? (
        <div role="alert" className="grid gap-1">
          <FieldError>{problem.message}</FieldError>
          {problem.faults.slice(0, 20).map((fault) => (
            <div key={`${fault.path} ${fault.code} ${fault.message}`} className="ps-5">
              <FieldError>
                {fault.path === '' ? null : <code className="mono me-1.5">{fault.path}</code>}
                {fault.message}
              </FieldError>
            </div>
          ))}
        </div>
      ) : null}
      {outcome && !preview.error ? (
        <XliffChanges outcome={outcome} />
      ) : preview.isPending ? (
        <SkeletonRows label={t('localization:xliff.reading')} columns={['w-24', 'w-64']} rows={4} />
      ) : null}
    </Dialog>
  );
}
