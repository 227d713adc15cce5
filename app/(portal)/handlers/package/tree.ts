import type { PackageFinding } from './finding.ts';
import { fileOf, isInManifest } from './finding.ts';

export interface TreeFile {
  name: string;
  size: number;
}

export interface FileNode {
  kind: 'file';
  name: string;
  /** Path from the root of the package. */
  path: string;
  /** Null if a finding names a file that the zip does not list. */
  size: number | null;
  findings: PackageFinding[];
}

export interface FolderNode {
  kind: 'folder';
  name: string;
  path: string;
  children: (FileNode | FolderNode)[];
  /** Number of files in the folder, at any depth. */
  files: number;
  findings: number;
}

/** Arranges files as a tree, each with its findings. In a folder, files come before folders. */
export function treeOf(files: readonly TreeFile[], findings: readonly PackageFinding[]): FolderNode {
  const root: FolderNode = { kind: 'folder', name: '', path: '', children: [], files: 0, findings: 0 };
  const folders = new Map<string, FolderNode>([['', root]]);
  const about = new Map<string, PackageFinding[]>();
  for (const finding of findings) {
    if (finding.path === '' || isInManifest(finding)) continue;
    const file = fileOf(finding);
    about.set(file, [...(about.get(file) ?? []), finding]);
  }
  const listed = new Set(files.map(({ name }) => name));
  const unlisted = [...about.keys()].filter((name) => !listed.has(name));
  for (const { name, size } of [...files, ...unlisted.map((path) => ({ name: path, size: null }))]) {
    const own = about.get(name) ?? [];
    const slash = name.lastIndexOf('/');
    const folder = folderAt(folders, slash < 0 ? '' : name.slice(0, slash));
    folder.children.push({ kind: 'file', name: name.slice(slash + 1), path: name, size, findings: own });
    for (const each of ancestors(folder.path)) {
      const node = folders.get(each);
      if (node === undefined) continue;
      node.files += 1;
      node.findings += own.length;
    }
  }
  for (const folder of folders.values()) {
    folder.children.sort((a, b) => (a.kind === b.kind ? (a.name < b.name ? -1 : 1) : a.kind === 'folder' ? 1 : -1));
  }
  return root;
}

function folderAt(folders: Map<string, FolderNode>, path: string): FolderNode {
  const known = folders.get(path);
  if (known !== undefined) return known;
  const slash = path.lastIndexOf('/');
  const made: FolderNode = { kind: 'folder', name: path.slice(slash + 1), path, children: [], files: 0, findings: 0 };
  folders.set(path, made);
  folderAt(folders, slash < 0 ? '' : path.slice(0, slash)).children.push(made);
  return made;
}

/** Returns the paths of a folder and of all folders above it; '' is the root. */
function ancestors(path: string): string[] {
  const all = [''];
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) all.push(path.slice(0, at));
  return path === '' ? all : [...all, path];
}
