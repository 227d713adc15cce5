CREATE TABLE "execution_rules" (
	"id" integer PRIMARY KEY NOT NULL,
	"approval" text NOT NULL,
	"updated_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "runbook_versions" (
	"runbook" text NOT NULL,
	"version" text NOT NULL,
	"state" text NOT NULL,
	"title" text NOT NULL,
	"description" text NOT NULL,
	"plan" text NOT NULL,
	"parameters" json,
	"timeout_seconds" integer NOT NULL,
	"valid_for_seconds" integer NOT NULL,
	"sha256" text NOT NULL,
	"saved_at" timestamp with time zone NOT NULL,
	"saved_by" text NOT NULL,
	"published_at" timestamp with time zone,
	"published_by" text,
	"withdrawn_at" timestamp with time zone,
	"withdrawn_by" text,
	"withdrawn_reason" text,
	CONSTRAINT "runbook_versions_runbook_version_pk" PRIMARY KEY("runbook","version")
);
--> statement-breakpoint
CREATE TABLE "runbooks" (
	"name" text PRIMARY KEY NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "runbook" text;--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "runbook_version" text;--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "requested_by" text;--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "approval" json;--> statement-breakpoint
ALTER TABLE "runbook_versions" ADD CONSTRAINT "runbook_versions_runbook_runbooks_name_fk" FOREIGN KEY ("runbook") REFERENCES "public"."runbooks"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "executions_runbook" ON "executions" USING btree ("runbook","queued_at") WHERE "executions"."runbook" is not null;