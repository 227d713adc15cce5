CREATE TABLE "retry_series" (
	"vm_id" uuid NOT NULL,
	"name" text NOT NULL,
	"every_minutes" integer NOT NULL,
	"times" integer NOT NULL,
	"done" integer DEFAULT 0 NOT NULL,
	"next_at" timestamp with time zone NOT NULL,
	"sequence_number" bigint NOT NULL,
	"digest" text NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"started_by" text NOT NULL,
	CONSTRAINT "retry_series_vm_id_name_pk" PRIMARY KEY("vm_id","name")
);
--> statement-breakpoint
ALTER TABLE "retry_series" ADD CONSTRAINT "retry_series_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "retry_series_next" ON "retry_series" USING btree ("next_at");