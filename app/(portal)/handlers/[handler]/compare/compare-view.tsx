'use client';

import { useQuery } from '@tanstack/react-query';
import { ArrowRight } from 'lucide-react';
import { useRouter } from 'next/navigation';
import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { Select } from '#app/_ui/select.tsx';
import { platformsText } from '#protocol/platform.ts';
import { ChangedFiles } from './changed-files.tsx';
import { ChangedLanguages, ChangedMessages } from './changed-messages.tsx';
import type { Comparison } from './comparison.ts';
import { TextDiff } from './text-diff.tsx';

export interface CompareViewProps {
  handler: string;
  type: string;
  versions: readonly string[];
  first: Comparison;
}

/** Chooses two versions and shows their differences: files, manifest, messages, platforms and settings schema. */
export function CompareView({ handler, type, versions, first }: CompareViewProps) {
  const { t } = useTranslation('packages');
  const router = useRouter();
  const trpc = useTRPC();
  const [a, b] = [first.a.version, first.b.version];
  const found = useQuery({ ...trpc.handlers.compare.queryOptions({ handler, a, b }), initialData: first }).data;
  const go = (next: { a: string; b: string }) =>
    router.replace(`/handlers/${handler}/compare?${new URLSearchParams(next)}`, { scroll: false });
  const options = versions.map((version) => ({ value: version, label: version }));
  const platforms = { before: platformsText(found.a.platforms), after: platformsText(found.b.platforms) };
  const isSame =
    found.files.total === 0 &&
    found.messages.total === 0 &&
    found.languages.every(({ added, removed, changed }) => added + removed + changed === 0) &&
    found.a.manifest === found.b.manifest &&
    found.a.schema === found.b.schema &&
    platforms.before === platforms.after;
  return (
    <>
      <PageHeader
        title={t('compare.of', { type })}
        actions={
          <div className="flex items-center gap-2">
            <Select
              aria-label={t('compare.a')}
              value={a}
              options={options}
              onChange={(event) => go({ a: event.target.value, b })}
              className="w-36"
            />
            <ArrowRight aria-hidden className="size-4 shrink-0 text-ink-3 rtl:-scale-x-100" />
            <Select
              aria-label={t('compare.b')}
              value={b}
              options={options}
              onChange={(event) => go({ a, b: event.target.value })}
              className="w-36"
            />
          </div>
        }
      />
      {isSame ? (
        <Card>
          <CardBody className="pt-4">
            <p className="text-ink-2">{a === b ? t('compare.itself') : t('compare.same')}</p>
          </CardBody>
        </Card>
      ) : (
        <div className="grid items-start gap-4 md:grid-cols-[minmax(0,5fr)_minmax(0,6fr)]">
          <ChangedFiles files={found.files} />
          <TextCard
            title={
              <span translate="no" className="mono">
                HandlerManifest.json
              </span>
            }
            label="HandlerManifest.json"
            before={found.a.manifest}
            after={found.b.manifest}
          />
          <ChangedMessages messages={found.messages} className="md:col-span-2" />
          {platforms.before === platforms.after ? null : <ChangedPlatforms {...platforms} />}
          <ChangedLanguages languages={found.languages} />
          <TextCard
            title={t('schema.title')}
            label={t('schema.title')}
            before={found.a.schema ?? ''}
            after={found.b.schema ?? ''}
          />
        </div>
      )}
    </>
  );
}

/** The platforms of both versions. A version without platforms supports every platform. */
function ChangedPlatforms({ before, after }: { before: string; after: string }) {
  const { t } = useTranslation('packages');
  const words = (platforms: string) =>
    platforms === '' ? t('compare.everyPlatform') : <span translate="no">{platforms}</span>;
  return (
    <Card className="md:col-span-2">
      <CardHeader title={t('fact.platforms')} />
      <CardBody>
        <p className="flex flex-wrap items-center gap-x-2">
          <span className="sr-only">{t('compare.before')}</span>
          <span className="text-ink-2">{words(before)}</span>
          <ArrowRight aria-hidden className="size-3.5 shrink-0 text-ink-3 rtl:-scale-x-100" />
          <span className="sr-only">{t('compare.after')}</span>
          <span>{words(after)}</span>
        </p>
      </CardBody>
    </Card>
  );
}

interface TextCardProps {
  title: ReactNode;
  label: string;
  before: string;
  after: string;
}

function TextCard({ title, label, before, after }: TextCardProps) {
  const { t } = useTranslation('packages');
  const note =
    before === '' && after === '' ? t('compare.none') : before === after ? t('compare.unchanged') : undefined;
  return (
    <Card>
      <CardHeader title={title} note={note} />
      {note === undefined ? <TextDiff label={label} before={before} after={after} /> : null}
    </Card>
  );
}
