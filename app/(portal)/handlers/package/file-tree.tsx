'use client';

import { FileText, Folder, FolderOpen } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Num } from '#app/_ui/num.tsx';
import { fileOf, type PackageFinding } from './finding.ts';
import { FindingLine } from './finding-line.tsx';
import type { FileNode, FolderNode } from './tree.ts';

export interface FileTreeProps {
  root: FolderNode;
  /** Names of commands, grouped by the program that they start. */
  commands: ReadonlyMap<string, string[]>;
  first: PackageFinding | undefined;
  inManifest: readonly PackageFinding[];
}

/** If a package has at most this many files, every folder is initially open. */
const fewFiles = 150;

/** Files and folders of a package, with each finding below its file. */
export function FileTree({ root, ...props }: FileTreeProps) {
  return <Children folder={root} open={root.files <= fewFiles} {...props} />;
}

function Children({ folder, ...props }: Omit<FileTreeProps, 'root'> & { folder: FolderNode; open: boolean }) {
  return (
    <ul>
      {folder.children.map((node) => (
        <li key={node.path}>
          {node.kind === 'folder' ? <FolderLine folder={node} {...props} /> : <FileLine file={node} {...props} />}
        </li>
      ))}
    </ul>
  );
}

function FolderLine({ folder, ...props }: Omit<FileTreeProps, 'root'> & { folder: FolderNode; open: boolean }) {
  const { t } = useTranslation('packages');
  const [open, setOpen] = useState(props.open || folder.findings > 0);
  const Icon = open ? FolderOpen : Folder;
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="flex min-h-7 cursor-pointer list-none items-center gap-2 rounded-sm hover:bg-hover [&::-webkit-details-marker]:hidden">
        <Icon aria-hidden className="size-[15px] shrink-0 text-ink-3" />
        <span translate="no" className="mono min-w-0 truncate">
          {folder.name}
        </span>
        <span className="ms-auto shrink-0 text-11 text-ink-3">{t('files.count', { count: folder.files })}</span>
      </summary>
      {open ? (
        <div className="ps-5">
          <Children folder={folder} {...props} />
        </div>
      ) : null}
    </details>
  );
}

function FileLine({ file, commands, first, inManifest }: Omit<FileTreeProps, 'root'> & { file: FileNode }) {
  const { t } = useTranslation('packages');
  const started = commands.get(file.path) ?? [];
  const elsewhere = inManifest.some((finding) => fileOf(finding) === file.path) ? inManifest : [];
  const failed = elsewhere.filter(({ status }) => status === 'failed').length;
  return (
    <>
      <span className="flex min-h-7 items-center gap-2">
        <FileText aria-hidden className="size-[15px] shrink-0 text-ink-3" />
        <span className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-2">
          <span translate="no" className="mono min-w-0 truncate" title={file.path}>
            {file.name}
          </span>
          {started.length > 0 ? (
            <span className="min-w-0 text-11 text-ink-2" title={t('files.starts')}>
              <span translate="no">{started.join(', ')}</span>
            </span>
          ) : null}
          {elsewhere.length > 0 ? (
            <span data-st={failed > 0 ? 'failed' : 'warning'} className="shrink-0 text-11 font-medium text-st-text">
              {t('findings.inside', { count: elsewhere.length })}
            </span>
          ) : null}
        </span>
        <span className="shrink-0 text-11 text-ink-3">
          {file.size === null ? null : <Num value={file.size} as="bytes" />}
        </span>
      </span>
      {file.findings.length === 0 ? null : (
        <div className="pb-1 ps-[23px]">
          {file.findings.map((finding) => (
            <FindingLine key={finding.code} finding={finding} first={finding === first} />
          ))}
        </div>
      )}
    </>
  );
}
