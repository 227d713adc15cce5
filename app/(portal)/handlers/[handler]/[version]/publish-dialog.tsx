'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { formulaOf } from '../../formula/formula-of.ts';
import { PublishLosses } from './publish-losses.tsx';
import type { Version, VersionResources } from './version-data.ts';

export interface PublishDialogProps {
  version: Version;
  resources: VersionResources;
  onPublished(): void;
  onClose(): void;
}

const fewLanguages = 6;

/** Explains what publishing means for this draft, and publishes it. */
export function PublishDialog({ version: draft, resources, onPublished, onClose }: PublishDialogProps) {
  const { t } = useTranslation(['packages', 'common']);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const { handler, version } = draft;
  const publish = useMutation(
    trpc.packages.publish.mutationOptions({
      onSuccess: async () => {
        await Promise.all([
          queryClient.invalidateQueries(trpc.packages.pathFilter()),
          queryClient.invalidateQueries(trpc.handlers.pathFilter()),
        ]);
        onPublished();
        onClose();
      },
    }),
  );
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('packages:publish.confirm', { version })}
      description={t(
        formulaOf(draft.manifest) ? 'packages:publish.confirm.why.formula' : 'packages:publish.confirm.why',
      )}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button variant="primary" busy={publish.isPending} onClick={() => publish.mutate({ handler, version })}>
            {t('packages:publish.act', { version })}
          </Button>
        </>
      }
    >
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
        <dt className="text-ink-3">{t('packages:publish.confirm.findings')}</dt>
        <dd>
          {draft.warnings.length === 0
            ? t('packages:publish.confirm.noFindings')
            : t('packages:findings.warnings', { count: draft.warnings.length })}
        </dd>
        <dt className="text-ink-3">{t('packages:publish.confirm.languages')}</dt>
        <dd>
          <MessagesInShort resources={resources} />
        </dd>
        <dt className="text-ink-3">{t('packages:publish.confirm.schema')}</dt>
        <dd>
          {t(
            draft.settingsSchema === null
              ? 'packages:publish.confirm.schema.no'
              : 'packages:publish.confirm.schema.yes',
          )}
        </dd>
      </dl>
      <PublishLosses handler={handler} version={version} />
      {publish.error ? (
        <div role="alert">
          <FieldError>{explain(publish.error).message}</FieldError>
        </div>
      ) : null}
    </Dialog>
  );
}

function MessagesInShort({ resources: { languages } }: { resources: VersionResources }) {
  const { t } = useTranslation('packages');
  const format = useFormat();
  if (languages.length === 0) return t('publish.confirm.noMessages');
  const whole = languages.filter(({ translated, total }) => translated === total).map(({ lang }) => lang);
  const lacking = languages.filter(({ translated, total }) => translated < total);
  const more = lacking.length - fewLanguages;
  return [
    ...(whole.length > 0 ? [t('publish.confirm.complete', { list: format.list(whole) })] : []),
    ...lacking
      .slice(0, fewLanguages)
      .map(({ lang, translated, total }) => t('publish.confirm.missing', { lang, count: total - translated })),
    ...(more > 0 ? [`+${more}`] : []),
  ].join('; ');
}
