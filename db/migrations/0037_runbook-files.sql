CREATE TABLE "execution_files" (
	"vm_id" uuid NOT NULL,
	"execution_id" uuid NOT NULL,
	"file" text NOT NULL,
	"runbook_file" text NOT NULL,
	"sha256" text NOT NULL,
	"size" bigint NOT NULL,
	CONSTRAINT "execution_files_vm_id_execution_id_file_pk" PRIMARY KEY("vm_id","execution_id","file")
);
--> statement-breakpoint
CREATE TABLE "runbook_file_revisions" (
	"id" text NOT NULL,
	"revision" integer NOT NULL,
	"sha256" text NOT NULL,
	"size" bigint NOT NULL,
	"stored_at" timestamp with time zone NOT NULL,
	"stored_by" text NOT NULL,
	CONSTRAINT "runbook_file_revisions_id_revision_pk" PRIMARY KEY("id","revision")
);
--> statement-breakpoint
CREATE TABLE "runbook_files" (
	"id" text PRIMARY KEY NOT NULL,
	"revision" integer NOT NULL,
	"sha256" text NOT NULL,
	"size" bigint NOT NULL,
	"stored_at" timestamp with time zone NOT NULL,
	"stored_by" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "execution_files" ADD CONSTRAINT "execution_files_execution" FOREIGN KEY ("vm_id","execution_id") REFERENCES "public"."executions"("vm_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runbook_file_revisions" ADD CONSTRAINT "runbook_file_revisions_id_runbook_files_id_fk" FOREIGN KEY ("id") REFERENCES "public"."runbook_files"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "execution_files_sha256" ON "execution_files" USING btree ("sha256");--> statement-breakpoint
CREATE INDEX "execution_files_runbook_file" ON "execution_files" USING btree ("runbook_file");--> statement-breakpoint
CREATE INDEX "runbook_file_revisions_sha256" ON "runbook_file_revisions" USING btree ("sha256");--> statement-breakpoint
CREATE INDEX "runbook_files_sha256" ON "runbook_files" USING btree ("sha256");